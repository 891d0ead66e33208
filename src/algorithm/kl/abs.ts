import { klFn } from './kl.js'

/** |logp − ref|. */
export const abs = klFn('|logp − ref|', ({ logprob, ref }) => logprob.sub(ref).abs())
