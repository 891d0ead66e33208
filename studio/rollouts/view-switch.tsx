import type { Store } from '../../src/studio/api.js'
import { count } from '../base/format.js'
import { query, setQuery } from '../base/place.js'
import { Choice } from './choice.js'

const EVERYTHING = { view: '', prompt: '', of: '', at: '' }

/** Which table, and which look at it. */
export function ViewSwitch({ stores, store }: { stores: readonly Store[]; store: Store }) {
  const { view } = query.value
  return (
    <div class="tools stores">
      <Choice
        name="store"
        label="Table"
        value={store.id}
        options={stores.map(({ id }) => id)}
        words={storeWords(stores)}
      />
      <div class="switch">
        <button type="button" aria-pressed={!view} onClick={() => setQuery(EVERYTHING)}>
          All rollouts
        </button>
        <button type="button" aria-pressed={view === 'step'} onClick={() => setQuery({ ...EVERYTHING, view: 'step' })}>
          Best and worst of a step
        </button>
        {view === 'attempts' && (
          <button type="button" aria-pressed="true">
            Attempts at a task
          </button>
        )}
      </div>
    </div>
  )
}

const storeWords = (stores: readonly Store[]) =>
  Object.fromEntries(
    stores.map((one) => [one.id, one.count === undefined ? one.name : `${one.name} (${count(one.count)})`]),
  )
