import { TrinityError } from '../../base/error.js'
import type { Logger } from '../../base/log/logger.js'
import type { Config } from '../../config/index.js'
import { type ContextParts, contextFactory, rolloutSeed } from '../../explorer/contexts.js'
import type { RolloutResult } from '../../explorer/job.js'
import { Runner } from '../../explorer/runner.js'
import { AttemptTimeout } from '../../explorer/timeout.js'
import { workHere } from '../../explorer/workplace.js'
import { type Task, Taskset } from '../../task/index.js'
import { needsOf, workflows } from '../../workflow/index.js'

/** A row of the first task set; without one, of the first evaluation set. */
export async function readTask({ buffer }: Config, row: number): Promise<Task> {
  const { tasksets, eval_tasksets } = buffer.explorer_input
  const config = tasksets[0] ?? eval_tasksets[0]
  if (!config) {
    throw new TrinityError('config/missing', 'no task set is configured to take a task from', {
      path: 'buffer.explorer_input.taskset',
    })
  }
  const taskset = await Taskset.open(config, 0, needsOf)
  try {
    let first = 0
    for await (const tasks of taskset.batches(256)) {
      if (row < first + tasks.length) return tasks[row - first]
      first += tasks.length
    }
    throw new TrinityError(
      'cli/debug',
      `task set '${taskset.name}' has ${taskset.length} tasks: there is no task ${row}`,
    )
  } finally {
    await taskset.close()
  }
}

/** Runs a task once, as a runner of the explorer would, without a second attempt. */
export async function runTask(
  parts: ContextParts,
  task: Task,
  logger: Logger,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { explorer } = parts.config
  const runner = new Runner(0, {
    workplace: workHere(contextFactory(parts, () => logger)),
    timeout: new AttemptTimeout({ ...explorer, dynamic_timeout: { ...explorer.dynamic_timeout, enable: false } }),
    retries: 0,
    backoffMs: 0,
    graceMs: 1000,
    concurrent: false,
    seed: rolloutSeed(parts.config),
    loggerOf: () => logger,
  })
  const results: RolloutResult[] = []
  const job = {
    batch: 'debug',
    kind: 'train' as const,
    task: { ...task, batchId: 'debug', taskId: 0 },
    taskId: 0,
    entry: workflows.get(task.workflow),
    first: 0,
    count: 1,
  }
  await runner.run(job, signal, (list) => void results.push(...list))
  return results[0]
}
