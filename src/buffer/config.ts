import type { PriorityOf } from './priority/priority-fn.js'
import { priorityFns } from './priority/registry.js'

/** The part of an experience buffer's configuration that the buffers read, under its names in the YAML. */
export interface BufferConfig {
  name: string
  storage_type: string
  path?: string | null
  /** Experiences. */
  capacity?: number
  /** Seconds: the deadline of a wait that names none. */
  max_read_timeout?: number
  replay_buffer?: ReplayConfig | null
  max_retry_times?: number
  /** Seconds. */
  max_retry_interval?: number
  /** File buffers: how much to read. */
  batch_size?: number
  total_epochs?: number
  total_steps?: number | null
}

export interface ReplayConfig {
  enable?: boolean
  priority_fn?: string
  /** Seconds. Null: every experience is used once. */
  reuse_cooldown_time?: number | null
  priority_fn_args?: Record<string, unknown>
}

export const DEFAULT_CAPACITY = 10_000
export const DEFAULT_TIMEOUT_S = 1800

export interface Replay {
  priorityOf: PriorityOf
  /** Milliseconds; undefined: no reuse. */
  cooldownMs?: number
}

/** Undefined when replay is off. */
export function replayOf(config: BufferConfig): Replay | undefined {
  const replay = config.replay_buffer
  if (!replay?.enable) return undefined
  const name = replay.priority_fn ?? 'linear_decay'
  const fn = priorityFns.get(name)
  const args = priorityFns.parse(name, replay.priority_fn_args, `${config.name}.replay_buffer.priority_fn_args`)
  const seconds = replay.reuse_cooldown_time
  return { priorityOf: fn.create(args as never), cooldownMs: seconds == null ? undefined : seconds * 1000 }
}
