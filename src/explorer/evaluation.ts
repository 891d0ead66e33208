import type { Task, Taskset } from '../task/index.js'
import { allFailed } from './all-failed.js'
import { failuresOf } from './batch.js'
import { type Metrics, ofEvalSet, ofEvalTask } from './metrics.js'
import type { RolloutScheduler } from './scheduler.js'

export interface EvaluationOptions {
  readonly step: number
  readonly prefix: 'eval' | 'bench'
  readonly detailed: boolean
  readonly maxRepeat?: number
  readonly signal?: AbortSignal
}

/** Tasks that are read at a time. */
const PORTION = 1024

/** Runs every task of the set and gives `<prefix>/<taskset>/…`. Runs that failed are counted, never scored as zero. */
export async function evaluateTaskset(
  taskset: Taskset,
  rollouts: RolloutScheduler,
  { step, prefix, detailed, maxRepeat, signal }: EvaluationOptions,
): Promise<Metrics> {
  const tasks: Task[] = []
  for await (const portion of taskset.batches(PORTION)) tasks.push(...portion)
  signal?.throwIfAborted()
  const batch = rollouts.submit({ id: `${step}/${taskset.name}`, order: step, kind: 'eval', tasks, maxRepeat })
  const abort = () => batch.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const result = await batch.done
    const failures = failuresOf(result)
    const { runs, failed } = failures
    if (runs > 0 && failed === runs) {
      throw allFailed(`evaluation of '${taskset.name}'`, failures, {
        path: 'buffer.explorer_input.eval_tasksets',
        hint: 'log/explorer_runner_*.log has every failure',
      })
    }
    const name = `${prefix}/${taskset.name}`
    const values = result.tasks.map((task) => {
      const done = task.runs.filter(({ failure }) => !failure)
      return { ...ofEvalTask(done.map(({ metrics }) => metrics)), 'time/task_execution': task.seconds }
    })
    return {
      ...ofEvalSet(name, values, detailed),
      [`${name}/finished_task_count`]: result.tasks.length,
      ...(failed > 0 ? { [`${name}/failed_run_count`]: failed } : {}),
    }
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
