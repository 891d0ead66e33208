import type { Store } from '../../src/studio/api.js'
import { count } from '../base/format.js'
import { query, setQuery } from '../base/place.js'
import { Choice } from './choice.js'

/** Which table, and the way back to all of it. */
export function ViewSwitch({ stores, store }: { stores: readonly Store[]; store: Store }) {
  return (
    <div class="tools">
      <Choice
        name="store"
        label="Table"
        value={store.id}
        options={stores.map(({ id }) => id)}
        words={storeWords(stores)}
      />
      {query.value.view === 'attempts' && (
        <button type="button" onClick={() => setQuery({ view: '', prompt: '', of: '' })}>
          All rollouts
        </button>
      )}
    </div>
  )
}

const storeWords = (stores: readonly Store[]) =>
  Object.fromEntries(
    stores.map((one) => [one.id, one.count === undefined ? one.name : `${one.name} (${count(one.count)})`]),
  )
