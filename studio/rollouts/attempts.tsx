import type { RolloutRow, Attempts as Tries } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { number } from '../base/format.js'
import { linkTo } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Spark } from '../part/spark.js'

interface Props {
  readonly id: string
  readonly store: string
  readonly task: string
}

/** All attempts at one task beside each other, oldest first: how its answers changed while the model learned. */
export function Attempts({ id, store, task }: Props) {
  const { answer, problem } = useAsked<Tries>(runPath(id, 'rollouts/attempts'), { store, task, limit: 200 }).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  if (answer.rows.length === 0) return <Empty title="Nobody has tried this task" />
  const rewards = answer.rows.map(({ reward }) => (typeof reward === 'number' ? reward : null))
  return (
    <>
      <p class="attempts-head">
        <Spark values={rewards} label={`rewards of task ${task}, oldest first`} />
        <span class="muted">
          {answer.isAll ? answer.rows.length : `the first ${answer.rows.length}`} attempts at task <b>{task}</b>, oldest
          first
        </span>
      </p>
      <p class="said attempts-prompt">{answer.rows[0].prompt}</p>
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
