import { type Experience, uid } from '../experience/index.js'

/** More differences than this are thinned out before the percentile is taken. */
const MOST = 1 << 18

/**
 * How far the trainer's log-probs are from those the sampler recorded, over the tokens of the model: other kernels,
 * other precision, older weights. `kl` = mean(sampler − trainer), an estimate of KL(sampler ‖ trainer).
 */
export function mismatch(
  experiences: readonly Experience[],
  trainer: (id: string) => Float32Array | undefined,
): Record<string, number> {
  const differences = new Float32Array(experiences.reduce((tokens, { actionMask }) => tokens + actionMask.length, 0))
  let [sum, absolute, most, count] = [0, 0, 0, 0]
  for (const experience of experiences) {
    const [sampled, own] = [experience.logprobs, trainer(uid(experience.eid))]
    if (!sampled || !own || experience.type === 'dpo' || experience.info.is_expert === true) continue
    for (let i = 0; i < own.length; i++) {
      if (experience.actionMask[i] === 0) continue
      const difference = sampled[i] - own[i]
      const size = Math.abs(difference)
      sum += difference
      absolute += size
      most = Math.max(most, size)
      differences[count++] = size
    }
  }
  if (count === 0) return {}
  return {
    'mismatch/logprob_diff/mean': absolute / count,
    'mismatch/logprob_diff/max': most,
    'mismatch/logprob_diff/p99': percentile(differences.subarray(0, count), 0.99),
    'mismatch/kl': sum / count,
  }
}

function percentile(values: Float32Array, share: number): number {
  const every = Math.ceil(values.length / MOST)
  const kept = Float32Array.from({ length: Math.ceil(values.length / every) }, (_, i) => values[i * every]).sort()
  return kept[Math.min(kept.length - 1, Math.floor(share * kept.length))]
}
