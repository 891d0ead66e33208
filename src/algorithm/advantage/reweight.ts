import { z } from 'zod'
import { positive } from '../entry.js'

/** Positive amplification of R3L. `alpha` amplifies, `max_reward` is what a full success earns. */
export const reweightArgs = {
  alpha: positive.default(3),
  rule: z.enum(['code', 'paper']).default('code'),
  max_reward: z.number().default(1),
}

interface ReweightArgs {
  alpha: number
  rule: 'code' | 'paper'
  max_reward: number
}

/**
 * R the reward, A the advantage before:
 *   `code`   R ≥ max: 1;  else A ≥ 0: α·A;  else A
 *   `paper`  R ≥ max: α;  else A > 0: α·A;  else A
 */
export function reweight(reward: number, advantage: number, { alpha, rule, max_reward }: ReweightArgs): number {
  if (reward >= max_reward) return rule === 'code' ? 1 : alpha
  return advantage > 0 ? alpha * advantage : advantage
}
