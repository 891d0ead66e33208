import type { GivenBuffer } from './kind.js'
import type { PriorityOf } from './priority/priority-fn.js'
import { priorityFns } from './priority/registry.js'

export interface Replay {
  priorityOf: PriorityOf
  /** Milliseconds; undefined: no reuse. */
  cooldownMs?: number
}

/** Undefined when replay is off. */
export function replayOf(config: GivenBuffer): Replay | undefined {
  const replay = config.replay_buffer
  if (!replay?.enable) return undefined
  const name = replay.priority_fn ?? 'linear_decay'
  const fn = priorityFns.get(name)
  const args = priorityFns.parse(name, replay.priority_fn_args, `${config.name}.replay_buffer.priority_fn_args`)
  const seconds = replay.reuse_cooldown_time
  return { priorityOf: fn.create(args as never), cooldownMs: seconds == null ? undefined : seconds * 1000 }
}
