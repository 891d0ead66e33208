import { useSignal } from '@preact/signals'
import type { RolloutQuery, Store, StoreList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { stale } from '../base/live.js'
import { query } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Attempts } from './attempts.js'
import { Extremes } from './extremes.js'
import { readFilter } from './filter.js'
import { FilterTools } from './filter-tools.js'
import { Histogram } from './histogram.js'
import { RolloutTable } from './rollout-table.js'
import { ViewSwitch } from './view-switch.js'

export function Rollouts({ id }: { id: string }) {
  const { answer, problem } = useAsked<StoreList>(runPath(id, 'stores'), {}, stale.rollouts.value).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Looking for rollouts…</p>
  if (answer.stores.length === 0)
    return (
      <Empty title="No rollouts on record">
        <p>The explorer keeps what it samples in the folder buffer/ of the job, beginning with its first step.</p>
      </Empty>
    )
  const store = answer.stores.find((one) => one.id === query.value.store) ?? preferred(answer.stores)
  const { view, prompt, of } = query.value
  if (store.problem !== undefined)
    return (
      <>
        <ViewSwitch stores={answer.stores} store={store} />
        <Empty title="This table cannot be read">
          <p>{store.problem}</p>
        </Empty>
      </>
    )
  return (
    <>
      <ViewSwitch stores={answer.stores} store={store} />
      {view === 'step' ? (
        <Extremes id={id} store={store.id} />
      ) : view === 'attempts' && prompt !== undefined ? (
        <Attempts id={id} store={store.id} prompt={prompt} of={of} />
      ) : (
        <All id={id} filter={readFilter(query.value, store.id)} />
      )}
    </>
  )
}

function All({ id, filter }: { id: string; filter: RolloutQuery }) {
  const since = useSignal(stale.rollouts.peek())
  return (
    <>
      <FilterTools />
      <Histogram id={id} filter={filter} />
      <RolloutTable key={`${JSON.stringify(filter)} ${since.value}`} id={id} filter={filter} />
      <button
        type="button"
        class="quiet newer"
        disabled={since.value === stale.rollouts.value}
        onClick={() => {
          since.value = stale.rollouts.value
        }}
      >
        There are newer ones: read the table again
      </button>
    </>
  )
}

/** What trainers took has advantages; what the explorer made is complete. The fuller one is shown first. */
export const preferred = (stores: readonly Store[]): Store =>
  stores.find(({ holds, problem }) => holds === 'raw' && problem === undefined) ?? stores[0]
