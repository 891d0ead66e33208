import { TrinityError } from '../../base/error.js'
import { type Experience, uid } from '../../experience/index.js'

const MAX_LOG_RATIO = 20

/** Differences of log-probs that are larger say no more, and their powers would not be numbers. */
export const bounded = (x: number) => Math.min(MAX_LOG_RATIO, Math.max(-MAX_LOG_RATIO, x))

/** How far trainer and sampler are apart on one sequence. */
export interface LogRatios {
  readonly mask: Uint8Array
  /** Tokens of the model. */
  readonly active: number
  /** old − rollout within ±20, 0 where masked. */
  readonly d: Float64Array
  /** Sum of old − rollout. */
  readonly total: number
}

export function logRatios(experience: Experience): LogRatios {
  const { oldLogprobs, logprobs, actionMask: mask } = experience
  if (!oldLogprobs || !logprobs) {
    const missing = logprobs ? 'log-probs of the trainer' : 'log-probs of the sampler'
    throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no ${missing}`, {
      path: 'algorithm.rollout_correction',
      hint: 'set algorithm.bypass_old_logprobs: false, and record log-probs at rollout',
    })
  }
  const d = new Float64Array(mask.length)
  let [active, total] = [0, 0]
  for (let i = 0; i < d.length; i++) {
    if (mask[i] === 0) continue
    const difference = oldLogprobs[i] - logprobs[i]
    d[i] = bounded(difference)
    // an infinite one would make the sum none
    total += Number.isFinite(difference) ? difference : d[i]
    active++
  }
  return { mask, active, d, total }
}
