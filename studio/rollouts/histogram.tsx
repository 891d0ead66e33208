import type { RewardHistogram, RolloutQuery } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { count, number } from '../base/format.js'
import { stale } from '../base/live.js'
import { setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'

/** Rewards of what the filter lets through; a bar filters by its range. */
export function Histogram({ id, filter }: { id: string; filter: RolloutQuery }) {
  const question = { ...filter, order: undefined, bins: 30 }
  const { answer } = useAsked<RewardHistogram>(runPath(id, 'rollouts/histogram'), question, stale.rollouts.value).value
  const most = Math.max(1, ...(answer?.bins.map((bin) => bin.count) ?? []))
  return (
    <section class="histogram" aria-label="Rewards">
      <dl>
        <div>
          <dt>Rollouts</dt>
          <dd>{count(answer?.count)}</dd>
        </div>
        <div>
          <dt>Mean reward</dt>
          <dd>{number(answer?.mean)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd>{count(answer?.failed)}</dd>
        </div>
      </dl>
      <div class="bins">
        {answer?.bins.map(({ from, to, count: many }) => (
          <button
            key={from}
            type="button"
            title={`${number(from)} to ${number(to)}: ${count(many)}`}
            aria-label={`rewards from ${number(from)} to ${number(to)}: ${count(many)}`}
            onClick={() => setQuery({ rewardMin: String(from), rewardMax: String(to) })}
          >
            {many > 0 && <i style={{ height: `${(many / most) * 100}%` }} />}
          </button>
        ))}
      </div>
      <p class="bins-ends muted">
        <span>{number(answer?.min)}</span>
        <span>{number(answer?.max)}</span>
      </p>
    </section>
  )
}
