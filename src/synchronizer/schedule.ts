import type { Config } from '../config/index.js'

/** The keys of `synchronizer` that say when weights move. */
export interface SyncSchedule {
  sync_style: 'fixed' | 'trainer_driven' | 'explorer_driven' | 'fully_async'
  explorer_sync_interval: number
  trainer_sync_interval: number
  /** Steps the explorer may be ahead: 1 = rollouts overlap with training on data that are one step old. */
  sync_offset: number
}

export function scheduleOf({ synchronizer: given }: Pick<Config, 'synchronizer'>): SyncSchedule {
  return {
    sync_style: given.sync_style,
    explorer_sync_interval: given.explorer_sync_interval ?? given.sync_interval,
    trainer_sync_interval: given.trainer_sync_interval ?? given.sync_interval,
    sync_offset: given.sync_offset,
  }
}

/** Whether the explorer looks for new weights after this step. */
export function explorerDue(schedule: SyncSchedule, step: number): boolean {
  const { sync_style, explorer_sync_interval, sync_offset } = schedule
  if (sync_style === 'fully_async') return false
  return step > sync_offset && (step - sync_offset) % explorer_sync_interval === 0
}

/** Whether the trainer has weights to give after this step. With `explorer_driven` it is the explorer who asks. */
export function trainerDue(schedule: SyncSchedule, step: number): boolean {
  if (schedule.sync_style === 'explorer_driven') return false
  return step > 0 && step % schedule.trainer_sync_interval === 0
}
