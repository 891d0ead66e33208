import { expect, it } from 'vitest'
import type { Rollout } from '../../src/studio/api.js'
import { withScores } from './with-scores.js'

it('a model that scores a rollout gives entropy, and what it finds likelier than the sampler did', () => {
  const tokens = { promptLength: 1, id: [7, 8, 9, 10], mask: [1, 1, 1], logprob: [-1, -2, null] }
  const scores = { logprob: [-0.5, null, -3], entropy: [0.1, 0.2, 0.3] }
  const scored = withScores({ tokens } as unknown as Rollout, scores)
  expect(scored.tokens).toEqual({
    ...tokens,
    entropy: [0.1, 0.2, 0.3],
    oldLogprob: [-0.5, null, -3],
    mismatch: [0.5, null, null],
  })
  const { logprob: _, ...without } = tokens
  expect(withScores({ tokens: without } as unknown as Rollout, scores).tokens.mismatch).toBeUndefined()
})
