import { k3Of } from './k3.js'
import { klFn } from './kl.js'

/** k3 with ref − logp clamped to ±20 and the result to ±10. */
export const lowVarKl = klFn('k3, clamped', ({ logprob, ref }) => k3Of(ref.sub(logprob).clamp(-20, 20)).clamp(-10, 10))
