import { expect } from 'vitest'
import type { MockTrainModel } from '../../src/engine/mock/train.js'
import type { Experience } from '../../src/experience/index.js'
import type { Sequence } from './by-hand.js'
import { rollout, withSamplerLogprobs } from './kit.js'

export const LR = 0.1
export const sequence = (e: Experience): Sequence => ({
  tokens: e.tokens,
  start: e.promptLength,
  mask: e.actionMask,
  temperature: e.temperature,
})
export const close = (actual: Float64Array, expected: Float64Array, digits = 5) => {
  for (const [i, value] of expected.entries()) expect(actual[i], `weight ${i}`).toBeCloseTo(value, digits)
}

/** Two groups of rollouts, several temperatures, one token of the environment. */
export function rollouts(policy: MockTrainModel, noise = 0.3): Experience[] {
  const made = [
    rollout({ tokens: [1, 2, 3, 4, 5], actionMask: [1, 0, 1], reward: 1, eid: { task: 0, run: 0 } }),
    rollout({ tokens: [1, 2, 4, 4, 1, 2], temperature: 0.7, reward: 0, eid: { task: 0, run: 1 } }),
    rollout({ tokens: [5, 0, 1], reward: 0.5, eid: { task: 1, run: 0 } }),
    rollout({ tokens: [5, 0, 3, 3, 2], temperature: 1.3, reward: 2, eid: { task: 1, run: 1 } }),
  ]
  const advantages = [1.2, -0.8, -0.5, 0.9]
  return made
    .map((e) => withSamplerLogprobs(policy, e, noise))
    .map((e, i) => ({ ...e, advantages: new Float32Array(e.actionMask.length).fill(advantages[i]) }))
}
