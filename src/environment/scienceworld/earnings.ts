import type { Frame } from './simulator/game.js'

/**
 * What an episode is worth: the best score that it ever had, or the largest that a single step added, as the study
 * counted. Both between 0 and 1.
 */
export type RewardMode = 'max_score' | 'max_delta'

/** The account of one episode, in hundredths as ScienceWorld counts. */
export class Earnings {
  readonly #mode: RewardMode
  #last = 0
  #best = 0

  constructor(mode: RewardMode) {
    this.#mode = mode
  }

  /** What the step earned, and what the episode is worth now. */
  add({ score }: Frame): { reward: number; worth: number; percent: number } {
    const percent = roundHalfEven(100 * score)
    const delta = percent - this.#last
    this.#last = percent
    this.#best = Math.max(this.#best, this.#mode === 'max_score' ? percent : delta)
    return { reward: delta / 100, worth: this.#best / 100, percent }
  }
}

/** As Python rounds: from the middle to the even neighbor. */
export function roundHalfEven(value: number): number {
  const down = Math.floor(value)
  const rest = value - down
  if (rest !== 0.5) return rest < 0.5 ? down : down + 1
  return down % 2 === 0 ? down : down + 1
}
