import { TrinityError } from '../../base/error.js'
import type { Config, TasksetConfig } from '../../config/index.js'
import { formatTask, taskStorages } from '../../task/index.js'
import { checkNeeds } from '../../task/needs.js'
import { needsOf } from '../../workflow/index.js'
import { isAtHand } from './at-hand.js'
import { asRefusal, type Refusal } from './refusal.js'

/** Task sets on this machine that cannot be opened, or whose first row lacks a column that is needed. */
export async function faultyTasks({ mode, buffer, data_processor }: Config): Promise<Refusal[]> {
  if (mode === 'train') return []
  const found: Refusal[] = []
  for (const list of ['tasksets', 'eval_tasksets'] as const) {
    for (const [i, taskset] of buffer.explorer_input[list].entries()) {
      const key = `buffer.explorer_input.${list}[${i}]`
      // what a pipeline makes first is not there yet
      const made = data_processor.task_pipeline?.output?.path
      const error = taskset.path === made ? undefined : await faultOf(taskset)
      if (error) found.push(asRefusal(isColumn(error) ? [`${key}.format`, key] : [`${key}.path`, key], error))
    }
  }
  return found
}

/** The file names a column that its own data do not have. */
export function isColumn(error: unknown): boolean {
  return error instanceof TrinityError && error.code === 'task/column'
}

/** A name that nothing knows, or none at all: that is told by its key. */
const TOLD = /^(registry\/|task\/no-workflow$)/

async function faultOf(config: TasksetConfig): Promise<unknown> {
  const { storage_type = 'file', path } = config
  if (storage_type !== 'file' || !path || !(await isAtHand(path))) return undefined
  try {
    const source = await taskStorages.get(storage_type).open(config)
    try {
      checkNeeds(formatTask(await source.row(0), config, { taskset: 0, row: 0 }), needsOf)
    } finally {
      await source.close()
    }
  } catch (error) {
    return error instanceof TrinityError && TOLD.test(error.code) ? undefined : error
  }
  return undefined
}
