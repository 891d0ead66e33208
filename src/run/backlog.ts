import type { Config } from '../config/index.js'
import { scheduleOf } from '../synchronizer/index.js'

/** So many steps in a row that gave more than the trainer takes; one may be chance. */
const IN_A_ROW = 3
/** Sample strategies that leave nothing behind. */
const KEEP_UP = ['staleness_control', 'whole_step']

/**
 * Says once that the explorer makes more experiences than the trainer takes between two syncs: what is not taken waits,
 * and every step trains on older data. Only the fixed style pairs steps of both sides; elsewhere each goes at its pace.
 */
export function backlogWatch(config: Config, note: (text: string) => void): (experiences: number) => void {
  const { sync_style, explorer_sync_interval, trainer_sync_interval } = scheduleOf(config)
  const { train_batch_size } = config.buffer
  const taken = (train_batch_size * trainer_sync_interval) / explorer_sync_interval
  let row = 0
  let said = sync_style !== 'fixed' || KEEP_UP.includes(config.algorithm.sample_strategy ?? '')
  return (experiences) => {
    row = experiences > taken ? row + 1 : 0
    if (said || row < IN_A_ROW) return
    said = true
    const made = Math.round((experiences * explorer_sync_interval) / trainer_sync_interval)
    note(
      `a step makes about ${experiences} experiences and the trainer takes ${Math.floor(taken)} of them: it falls ` +
        `behind, and trains on ever older ones; set buffer.train_batch_size to about ${made}`,
    )
  }
}
