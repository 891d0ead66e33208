import { klFn } from './kl.js'

/** k2 = ½·(logp − ref)²: its gradient is that of the reverse KL when sampling on-policy. */
export const k2 = klFn('½(logp − ref)²', ({ logprob, ref }) => logprob.sub(ref).square().mul(0.5))
