import type { Extremes as Ends, RolloutPage } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { useKeys } from '../base/keys.js'
import { numberOf, query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Problem } from '../part/empty.js'
import { mostOf } from './reward.js'
import { RolloutCards } from './rollout-cards.js'

const EACH = 6

/** The best and the worst of a step beside each other: what is rewarded, and what is not. */
export function Extremes({ id, store }: { id: string; store: string }) {
  const newest = useAsked<RolloutPage>(runPath(id, 'rollouts'), { store, limit: 1 }).value.answer?.rows[0]?.step
  const step = numberOf(query.value.at) ?? numberOf(newest)
  const path = step === undefined ? undefined : runPath(id, 'rollouts/extremes')
  const { answer, problem } = useAsked<Ends>(path, { store, step, limit: EACH }).value
  const move = (by: number) => step !== undefined && setQuery({ at: String(Math.max(0, step + by)) })
  useKeys({ ArrowLeft: () => move(-1), ArrowRight: () => move(1) })
  if (problem !== undefined) return <Problem problem={problem} />
  const most = mostOf([...(answer?.best ?? []), ...(answer?.worst ?? [])])
  const list = (title: string, rows: Ends['best']) => (
    <section>
      <h2>{title}</h2>
      <RolloutCards
        {...{ id, store, rows, most }}
        headOf={(row) => `task ${row.source?.index ?? row.task} · run ${row.run}`}
        withPrompt
      />
    </section>
  )
  return (
    <>
      <div class="tools">
        <button type="button" onClick={() => move(-1)} aria-label="the step before">
          ←
        </button>
        <label>
          step
          <input
            class="short"
            inputMode="numeric"
            value={step ?? ''}
            onChange={({ currentTarget }) => setQuery({ at: currentTarget.value.trim() })}
          />
        </label>
        <button type="button" onClick={() => move(1)} aria-label="the next step">
          →
        </button>
        {answer?.best.length === 0 && <span class="muted">No rollout of this step is on record.</span>}
      </div>
      <div class="halves">
        {list('Best', answer?.best ?? [])}
        {list('Worst', answer?.worst ?? [])}
      </div>
    </>
  )
}
