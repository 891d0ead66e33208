import type { Config, ExperienceBufferConfig } from '../config/index.js'
import { scheduleOf } from '../synchronizer/index.js'

/**
 * The last explorer step that a training step may choose from, where experiences are replayed. Between two syncs the
 * explorer makes `explorer_sync_interval` steps and the trainer `trainer_sync_interval`, so training step t belongs to
 * explorer step ⌈t · explorer / trainer⌉. The schedule has it made by then; what else is there early is a matter of
 * speed, and must not be. In the other styles the two sides are not paired: undefined.
 */
export function horizonOf(config: Config): ((step: number) => number) | undefined {
  const { sync_style, explorer_sync_interval, trainer_sync_interval } = scheduleOf(config)
  const { replay_buffer } = config.buffer.trainer_input.experience_buffer as ExperienceBufferConfig
  if (sync_style !== 'fixed' || !replay_buffer?.enable) return undefined
  return (step) => Math.ceil((step * explorer_sync_interval) / trainer_sync_interval)
}
