import type { Experience } from '../../experience/index.js'
import { type AdvantageResult, tokenInput, trainerRewardOf } from './advantage.js'
import { perGroup } from './group.js'
import { normalized } from './grpo-verl.js'

/** The active tokens of a batch, flat: which experience and position, its advantage, and how predictable it was. */
export interface FlatTokens {
  readonly result: AdvantageResult
  readonly row: Int32Array
  readonly position: Int32Array
  readonly advantage: Float64Array
  /** S = p·(H + log p). */
  readonly score: Float64Array
}

/** GRPO advantages in the trainer, and S of every active token from the log-probs that `logprobs` picks. */
export function flatTokens(
  experiences: readonly Experience[],
  epsilon: number,
  logprobs: (experience: Experience) => Float32Array,
): FlatTokens {
  const result = perGroup(experiences, (rewards) => normalized(rewards, epsilon), trainerRewardOf)
  const count = result.experiences.reduce((sum, e) => sum + e.actionMask.reduce((a, b) => a + (b === 0 ? 0 : 1), 0), 0)
  const [row, position] = [new Int32Array(count), new Int32Array(count)]
  const [advantage, score] = [new Float64Array(count), new Float64Array(count)]
  let at = 0
  for (const [r, experience] of result.experiences.entries()) {
    const logp = logprobs(experience)
    const entropy = tokenInput(experience, 'columns.entropy')
    for (let i = 0; i < experience.actionMask.length; i++) {
      if (experience.actionMask[i] === 0) continue
      row[at] = r
      position[at] = i
      advantage[at] = experience.advantages![i]
      score[at] = Math.exp(logp[i]) * (entropy[i] + logp[i])
      at++
    }
  }
  return { result, row, position, advantage, score }
}

/** Takes tokens out of the mask, so that the loss does not see them. */
export function removeTokens({ result, row, position, advantage }: FlatTokens, clipped: Uint8Array): AdvantageResult {
  const masks = result.experiences.map((experience) => experience.actionMask.slice())
  for (let k = 0; k < clipped.length; k++) if (clipped[k] !== 0) masks[row[k]][position[k]] = 0
  /** Share of the tokens of one kind that leave; 0 where there is none. */
  const share = (isOne: (a: number) => boolean) => {
    let [left, all] = [0, 0]
    for (let k = 0; k < clipped.length; k++) {
      if (!isOne(advantage[k])) continue
      all++
      left += clipped[k]
    }
    return all > 0 ? left / all : 0
  }
  const metrics = {
    frac_clipped: share(() => true),
    frac_clipped_pos: share((a) => a > 0),
    frac_clipped_neg: share((a) => a < 0),
  }
  return {
    experiences: result.experiences.map((experience, r) => ({ ...experience, actionMask: masks[r] })),
    metrics: { ...result.metrics, ...metrics },
  }
}

export function meanAndDeviation(values: Float64Array): { mean: number; std: number } {
  let sum = 0
  for (const value of values) sum += value
  const mean = values.length > 0 ? sum / values.length : 0
  let squares = 0
  for (const value of values) squares += (value - mean) ** 2
  return { mean, std: values.length > 0 ? Math.sqrt(squares / values.length) : 0 }
}
