import type { Sample } from '../engine/contract.js'

/** A token that was drawn with this probability or a higher one was no choice. */
const CERTAIN = Math.log(0.999)

/**
 * Of a sample that was held to a format: which of its tokens the model chose. The derivative of the log-prob that such a token was
 * drawn with is at most a thousandth; that of its log-prob among all tokens is not, and would push a policy around for what it
 * did not do.
 */
export function withChoices(sample: Sample): Sample {
  const { drawnLogprobs } = sample
  if (!drawnLogprobs?.some((logprob) => logprob >= CERTAIN)) return sample
  return { ...sample, choices: Uint8Array.from(drawnLogprobs, (logprob) => (logprob >= CERTAIN ? 0 : 1)) }
}
