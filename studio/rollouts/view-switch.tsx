import type { Store } from '../../src/studio/api.js'
import { count } from '../base/format.js'
import { query, setQuery } from '../base/place.js'
import { Choice } from './choice.js'

/** Which table, and how one looks at it. */
export function ViewSwitch({ stores, store }: { stores: readonly Store[]; store: Store }) {
  const { view = '' } = query.value
  return (
    <div class="tools">
      <div class="switch">
        <button type="button" aria-pressed={view === ''} onClick={() => setQuery({ view: '', task: '' })}>
          All rollouts
        </button>
        <button type="button" aria-pressed={view !== ''} onClick={() => setQuery({ view: 'tasks', task: '' })}>
          By task
        </button>
      </div>
      <Choice
        name="store"
        label="Table"
        value={store.id}
        options={stores.map(({ id }) => id)}
        words={storeWords(stores)}
      />
    </div>
  )
}

const storeWords = (stores: readonly Store[]) =>
  Object.fromEntries(
    stores.map((one) => [one.id, one.count === undefined ? one.name : `${one.name} (${count(one.count)})`]),
  )
