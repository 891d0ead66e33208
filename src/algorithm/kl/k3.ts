import type { Expr } from '../../graph/index.js'
import { klFn } from './kl.js'

/** k3 = e^(ref − logp) − 1 − (ref − logp): unbiased and never negative. */
export const k3 = klFn('exp(ref − logp) − 1 − (ref − logp)', ({ logprob, ref }) => k3Of(ref.sub(logprob)))

export function k3Of(d: Expr): Expr {
  return d.exp().sub(1).sub(d)
}
