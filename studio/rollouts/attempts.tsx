import type { RolloutPage } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Spark } from '../part/spark.js'
import { mostOf } from './reward.js'
import { RolloutCards } from './rollout-cards.js'
import { sourceKey } from './task-words.js'

interface Props {
  readonly id: string
  readonly store: string
  readonly prompt: string
  /** Row of a task set: of two that ask the same, only this one's. */
  readonly of?: string
}

const MOST = 200

/**
 * All attempts at one task beside each other, oldest first: how its answers changed while the model learned. They are found by
 * the prompt, and told apart by the row of the task set where experiences know it.
 */
export function Attempts({ id, store, prompt, of }: Props) {
  const question = { store, text: prompt, order: 'oldest', limit: MOST }
  const { answer, problem } = useAsked<RolloutPage>(runPath(id, 'rollouts'), question).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  const rows = answer.rows.filter(({ source }) => of === undefined || !source || sourceKey(source) === of)
  if (rows.length === 0) return <Empty title="No attempt is on record" />
  const most = mostOf(rows)
  const rewards = rows.map(({ reward }) => (typeof reward === 'number' ? reward : null))
  return (
    <>
      <p class="attempts-head">
        <Spark values={rewards} label="rewards of the attempts, oldest first" />
        <span class="muted">
          {answer.next === undefined ? rows.length : `the first ${MOST}`} attempts, oldest first
        </span>
      </p>
      <p class="said attempts-prompt">{prompt}</p>
      <RolloutCards {...{ id, store, rows, most }} headOf={(row) => `step ${row.step} · run ${row.run}`} />
    </>
  )
}
