import { advantageFns } from '../algorithm/index.js'
import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import { scheduleOf } from '../synchronizer/index.js'
import { Taskset, TasksetScheduler } from '../task/index.js'
import { needsOf, workflows } from '../workflow/index.js'
import { isWorkflowClass } from '../workflow/workflow.js'
import type { Closers } from './closers.js'
import { takesWholeSteps } from './pipeline.js'

/** The tasks of the rollouts. */
export async function openScheduler(config: Config, closers: Closers): Promise<TasksetScheduler> {
  const { batch_size, total_epochs, total_steps, explorer_input } = config.buffer
  try {
    const { tasksets } = explorer_input
    return closers.add(await TasksetScheduler.open({ tasksets, batch_size, total_epochs, total_steps, needsOf }))
  } catch (error) {
    if (!(error instanceof TrinityError) || error.code !== 'task/no-batch') throw error
    const { message, path, hint } = error
    throw new TrinityError('config/nothing-to-do', `nothing to run: ${message}`, { path, hint, cause: error })
  }
}

export async function openEvalTasksets({ buffer }: Config, closers: Closers): Promise<Taskset[]> {
  const sets: Taskset[] = []
  for (const [i, set] of buffer.explorer_input.eval_tasksets.entries()) {
    sets.push(closers.add(await Taskset.open(set, i, needsOf)))
  }
  return sets
}

/**
 * The last training step of explorer and trainer together; undefined: when the data end. A rollout of several steps gives
 * any number of experiences: who asks for so many steps does not want those that would come of what is left over.
 */
export function lastStep(config: Config): number | undefined {
  const { total_steps } = config.buffer
  if (config.trainer.total_steps !== null) return config.trainer.total_steps
  if (!givesAny(config) || !total_steps) return undefined
  const { explorer_sync_interval, trainer_sync_interval } = scheduleOf(config)
  return Math.ceil((total_steps * trainer_sync_interval) / explorer_sync_interval)
}

/** Nobody knows how many experiences a run gives. */
function givesAny({ algorithm: { advantage_fn }, buffer }: Config): boolean {
  if (advantage_fn !== null && advantageFns.get(advantage_fn).stepWise === true) return true
  return buffer.explorer_input.tasksets.some(({ default_workflow_type: name }) => {
    const entry = name === null ? undefined : workflows.find(name)
    return entry !== undefined && isWorkflowClass(entry) && entry.givesAny
  })
}

/** Training steps that the rollouts of a run give, when none is dropped; undefined where a run gives any number. */
export function expectedSteps(config: Config, scheduler: Pick<TasksetScheduler, 'steps'>): number | undefined {
  const { batch_size, train_batch_size, trainer_input } = config.buffer
  if (takesWholeSteps(config)) return scheduler.steps
  const replay = trainer_input.experience_buffer?.replay_buffer
  const reuses = replay?.enable === true && replay.reuse_cooldown_time !== null
  if (givesAny(config) || reuses) return undefined
  const made = scheduler.steps * batch_size * (config.algorithm.repeat_times ?? 1)
  const ratio = Number(config.algorithm.sample_strategy_args?.expert_data_ratio ?? 0)
  const mixes = config.algorithm.sample_strategy === 'mix' && Object.keys(trainer_input.auxiliary_buffers).length > 0
  const own = mixes ? train_batch_size - Math.ceil(ratio * train_batch_size) : train_batch_size
  return Math.max(1, Math.floor(made / Math.max(1, own)))
}
