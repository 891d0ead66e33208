import { klFn } from './kl.js'

/** k1 = logp − ref: unbiased, but may be negative. */
export const k1 = klFn('logp − ref', ({ logprob, ref }) => logprob.sub(ref))
