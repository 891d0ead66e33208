import type { Transition } from '../../environment.js'
import { NOTHING_HAPPENS } from '../world.js'

/** The reply is no step of the game, and the episode goes on. */
export function refused(score: number): Transition {
  return { observation: NOTHING_HAPPENS, reward: 0, done: false, score, metrics: { valid_action: 0 } }
}

/** The reply ends the episode without success. */
export function failed(observation: string, score: number): Transition {
  return { observation, reward: 0, done: true, score, metrics: { valid_action: 0 } }
}
