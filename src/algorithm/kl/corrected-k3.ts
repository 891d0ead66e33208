import { k3Of } from './k3.js'
import { klFn } from './kl.js'

/** k3 times the clamped importance ratio of an off-policy sample: clamp(e^(logp − old), 0, 2)·k3. */
export const correctedK3 = klFn('k3 weighted by the importance ratio', ({ logprob, ref, old }) =>
  logprob
    .sub(old())
    .exp()
    .clamp(0, 2)
    .mul(k3Of(ref.sub(logprob))),
)
