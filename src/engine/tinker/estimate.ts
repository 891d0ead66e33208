import type { TokenScores } from '../../graph/evaluate.js'
import { idColumn, type ScoreKind } from '../../graph/loss.js'
import { unsupported } from './failure.js'

/** Whether a service gives this score. */
export function isGiven(kind: ScoreKind): boolean {
  return kind === 'logprob' || idColumn(kind) !== undefined
}

/**
 * Scores over the whole vocabulary, estimated from the one token that was drawn: H = E[−log π] and Σ π² = E[π]. Good
 * for a metric, and useless for a gradient: the derivative of the estimate is not that of the score.
 */
export function estimated(kind: ScoreKind, logprob: Float32Array): Float32Array {
  return kind === 'entropy' ? logprob.map((x) => -x) : logprob.map(Math.exp)
}

/** The scores a loss reads: those that are given, and estimates of those that only its metrics read. */
export function withEstimates(given: TokenScores, wants: readonly ScoreKind[]): TokenScores {
  const logprob = given.logprob
  const made = wants.filter((kind) => !isGiven(kind)).map((kind) => [kind, estimated(kind, logprob!)] as const)
  return { ...given, ...Object.fromEntries(made) }
}

/** A loss whose gradient needs a score that no service gives cannot be trained there. */
export function checkGradients(kinds: readonly ScoreKind[]): void {
  const bad = kinds.find((kind) => !isGiven(kind))
  if (bad === undefined) return
  const [path, hint] =
    bad === 'entropy'
      ? ['algorithm.entropy_loss_fn_args.entropy_coef', 'set entropy_coef to 0, or train with another engine']
      : ['algorithm.policy_loss_fn', 'choose a loss of log-probs, or train with another engine']
  throw unsupported(`gives log-probs of tokens alone, and this loss learns from ${bad}`, path, hint)
}
