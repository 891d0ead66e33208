import { Registry } from '../../base/registry.js'
import type { Expr } from '../../graph/index.js'
import { type KlFn, klFn } from './kl.js'

/** k3 of d = ref − logp: e^d − 1 − d. */
const k3 = (d: Expr) => d.exp().sub(1).sub(d)

/** Estimators of KL(policy ‖ reference) by name, from logp of the model, ref of the reference, old of the sampler. */
export const klFns = new Registry<KlFn>('KL function', {
  // as a penalty the rewards stay as they are, as a loss it is 0
  none: klFn('no KL'),
  // unbiased, but may be negative
  k1: klFn('logp − ref', ({ logprob, ref }) => logprob.sub(ref)),
  // its gradient is that of the reverse KL when sampling on-policy
  k2: klFn('½(logp − ref)²', ({ logprob, ref }) => logprob.sub(ref).square().mul(0.5)),
  // unbiased and never negative
  k3: klFn('exp(ref − logp) − 1 − (ref − logp)', ({ logprob, ref }) => k3(ref.sub(logprob))),
  // ref − logp clamped to ±20 and the result to ±10
  low_var_kl: klFn('k3, clamped', ({ logprob, ref }) => k3(ref.sub(logprob).clamp(-20, 20)).clamp(-10, 10)),
  abs: klFn('|logp − ref|', ({ logprob, ref }) => logprob.sub(ref).abs()),
  // of an off-policy sample: clamp(e^(logp − old), 0, 2)·k3
  corrected_k3: klFn('k3 weighted by the importance ratio', ({ logprob, ref, old }) =>
    logprob
      .sub(old())
      .exp()
      .clamp(0, 2)
      .mul(k3(ref.sub(logprob))),
  ),
})
