import type { Caps } from '../contract.js'

/**
 * What log-probs of a server mean, from how far apart the likeliest tokens lie: for a greedy draw, and at temperature 0.5
 * with all but one token cut off. The model's own are then twice as far apart; those before the temperature as far as
 * before; those after truncation know no second token.
 */
export function meaningOf(plain: number, halved: number): Caps['logprobs'] {
  const ratio = halved / plain
  if (ratio > 1.8 && ratio < 2.2) return 'model'
  return ratio > 0.9 && ratio < 1.1 ? 'raw' : 'processed'
}
