import { TrinityError } from '../../base/error.js'

/** What the watching thread has found out about a main thread that stands still. */
export interface BlockReport {
  readonly seconds: number
  /** File, line and column. */
  readonly place: string
  /** The rollout whose code it is; several: it is one of them. */
  readonly rollouts: readonly string[]
}

/** Names of rollouts that an error shows. */
const MOST_NAMES = 3

/** The failure of the run. */
export function blockedError({ seconds, place, rollouts }: BlockReport): TrinityError {
  const names = rollouts.slice(0, MOST_NAMES).join(', ') + (rollouts.length > MOST_NAMES ? ', …' : '')
  const whose = rollouts.length === 0 ? '' : rollouts.length === 1 ? ` in rollout ${names}` : ` in one of ${names}`
  const text = `code of a plugin did not let go of the event loop for ${seconds} s${whose}: ${place}`
  return new TrinityError('run/blocked', text, {
    path: place,
    hint:
      'end the loop, or await something in it that takes time (a timer, a call of the model); ' +
      'with explorer.isolation: thread or process such a workflow fails alone',
  })
}

/** What is worth a line, but no reason to end anything. */
export function busyNote({ seconds, place }: BlockReport): string {
  return `the event loop has stood still for ${seconds} s: ${place}`
}
