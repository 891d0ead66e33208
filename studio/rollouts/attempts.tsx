import type { RolloutPage, RolloutRow } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { number } from '../base/format.js'
import { linkTo } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Spark } from '../part/spark.js'

interface Props {
  readonly id: string
  readonly store: string
  readonly prompt: string
}

const MOST = 200

/**
 * All attempts at one prompt beside each other, oldest first: how its answers changed while the model learned. The prompt
 * tells what the task was: the number of a task counts within its step only.
 */
export function Attempts({ id, store, prompt }: Props) {
  const question = { store, text: prompt, order: 'oldest', limit: MOST }
  const { answer, problem } = useAsked<RolloutPage>(runPath(id, 'rollouts'), question).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  if (answer.rows.length === 0) return <Empty title="No attempt is on record" />
  const rewards = answer.rows.map(({ reward }) => (typeof reward === 'number' ? reward : null))
  return (
    <>
      <p class="attempts-head">
        <Spark values={rewards} label="rewards of the attempts, oldest first" />
        <span class="muted">
          {answer.next === undefined ? answer.rows.length : `the first ${MOST}`} attempts, oldest first
        </span>
      </p>
      <p class="said attempts-prompt">{prompt}</p>
      <ol class="attempts">
        {answer.rows.map((row) => (
          <Attempt key={row.id} row={row} href={linkTo(['runs', id, 'rollout'], { store, id: row.id })} />
        ))}
      </ol>
    </>
  )
}

function Attempt({ row, href }: { row: RolloutRow; href: string }) {
  return (
    <li>
      <a href={href}>
        <span class="muted">
          step {row.step} · run {row.run}
        </span>
        <b class="figure">{number(row.reward)}</b>
        <p class="said">{row.response}</p>
        {row.failure !== undefined && <small class="tag bad">{row.failure.replaceAll('_', ' ')}</small>}
      </a>
    </li>
  )
}
