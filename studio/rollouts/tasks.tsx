import type { TaskPage, TasksQuery } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { count, number } from '../base/format.js'
import { stale } from '../base/live.js'
import { linkTo, numberOf, query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'

const PAGE = 50
const ORDERS: readonly { order: TasksQuery['order']; label: string }[] = [
  { order: 'attempts', label: 'most attempts' },
  { order: 'best', label: 'best' },
  { order: 'worst', label: 'worst' },
  { order: 'spread', label: 'least decided' },
]

/** Tasks with what their attempts were worth: which are solved, which never, which teach something. */
export function Tasks({ id, store }: { id: string; store: string }) {
  const offset = numberOf(query.value.offset) ?? 0
  const order = ORDERS.find((one) => one.order === query.value.tasks)?.order ?? 'attempts'
  const question = { store, order, offset, limit: PAGE }
  const { answer, problem } = useAsked<TaskPage>(runPath(id, 'rollouts/tasks'), question, stale.rollouts.value).value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  if (answer.tasks.length === 0) return <Empty title="No tasks on record" />
  const page = (to: number) => setQuery({ offset: to <= 0 ? '' : String(to) })
  return (
    <>
      <div class="tools">
        <div class="switch">
          {ORDERS.map((one) => (
            <button
              key={one.order}
              type="button"
              aria-pressed={one.order === order}
              onClick={() => setQuery({ tasks: one.order ?? '', offset: '' })}
            >
              {one.label}
            </button>
          ))}
        </div>
        <span class="space" />
        <button type="button" disabled={offset === 0} onClick={() => page(offset - PAGE)}>
          ← Before
        </button>
        <button type="button" disabled={answer.isLast} onClick={() => page(offset + PAGE)}>
          Next →
        </button>
      </div>
      <div class="sheet">
        <table>
          <thead>
            <tr>
              <th>Task</th>
              <th>Attempts</th>
              <th>Mean reward</th>
              <th>Least</th>
              <th>Greatest</th>
            </tr>
          </thead>
          <tbody>
            {answer.tasks.map(({ task, attempts, mean, min, max }) => (
              <tr key={task}>
                <td>
                  <a href={linkTo(['runs', id, 'rollouts'], { store, view: 'attempts', task })}>{task}</a>
                </td>
                <td class="figure">{count(attempts)}</td>
                <td class="figure">{number(mean)}</td>
                <td class="figure">{number(min)}</td>
                <td class="figure">{number(max)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
