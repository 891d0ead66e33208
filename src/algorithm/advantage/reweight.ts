import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { positive } from '../entry.js'

/** Positive amplification of R3L. `alpha` amplifies, `max_reward` is what a full success earns. */
export const reweightArgs = {
  alpha: positive.default(3).describe('Factor of positive advantages.'),
  rule: z
    .enum(['paper', 'code', 'none'])
    .default('paper')
    .describe('How successes are amplified: as the paper has it, as its code has it, or not at all.'),
  max_reward: z.number().default(1).describe('What a full success earns.'),
}

interface ReweightArgs {
  alpha: number
  rule: 'paper' | 'code' | 'none'
  max_reward: number
}

/**
 * R the reward, A the advantage before:
 *   `paper`  R ≥ max: α;  else A > 0: α·A;  else A
 *   `code`   R ≥ max: 1;  else A ≥ 0: α·A;  else A
 *   `none`   A
 * What is only imitated (`info.is_expert`) is not amplified.
 */
export function reweight(
  reward: number,
  advantage: number,
  { info }: Pick<Experience, 'info'>,
  { alpha, rule, max_reward }: ReweightArgs,
): number {
  if (rule === 'none' || info.is_expert === true) return advantage
  if (reward >= max_reward) return rule === 'code' ? 1 : alpha
  return advantage > 0 ? alpha * advantage : advantage
}
