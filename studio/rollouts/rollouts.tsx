import type { Store, StoreList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { stale } from '../base/live.js'
import { query } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { readFilter } from './filter.js'
import { FilterTools } from './filter-tools.js'
import { Histogram } from './histogram.js'
import { RolloutTable } from './rollout-table.js'

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
  const filter = readFilter(query.value, store.id)
  return (
    <>
      <FilterTools stores={answer.stores} store={store} />
      {store.problem !== undefined ? (
        <Empty title="This table cannot be read">
          <p>{store.problem}</p>
        </Empty>
      ) : (
        <div class="rollouts-body">
          <Histogram id={id} filter={filter} />
          <RolloutTable key={JSON.stringify(filter)} id={id} filter={filter} />
        </div>
      )}
    </>
  )
}

/** What trainers took has advantages; what the explorer made is complete. The fuller one is shown first. */
export const preferred = (stores: readonly Store[]): Store =>
  stores.find(({ holds, problem }) => holds === 'raw' && problem === undefined) ?? stores[0]
