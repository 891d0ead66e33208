import type { Rollout, RolloutScores } from '../../src/studio/api.js'

/** A rollout with what a model says to it in place of what its trainer did: entropy, and how far the two disagree. */
export function withScores(rollout: Rollout, { logprob, entropy }: RolloutScores): Rollout {
  const { tokens } = rollout
  const recorded = tokens.logprob
  const mismatch = recorded && logprob.map((value, at) => difference(value, recorded[at]))
  return { ...rollout, tokens: { ...tokens, entropy, oldLogprob: logprob, ...(mismatch && { mismatch }) } }
}

const difference = (one: number | null, other: number | null | undefined) =>
  one === null || other === null || other === undefined ? null : one - other
