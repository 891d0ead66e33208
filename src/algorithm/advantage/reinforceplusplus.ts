import { z } from 'zod'
import { fraction } from '../entry.js'
import { advantageFn, assign, rewarded } from './advantage.js'
import { rewardToGo, tokenRewards, whiten } from './returns.js'

/** REINFORCE++: G_t = r_t + γ·G_{t+1}; A = whitened G over the active tokens of the batch; returns = G. */
export const reinforceplusplus = advantageFn({
  doc: 'reward to go, whitened over the batch (REINFORCE++)',
  where: 'trainer',
  needs: ['reward'],
  args: z.strictObject({ gamma: fraction.default(1).describe('Discount of later rewards; 1: none.') }),
  compute(experiences, { gamma }) {
    const { kept, metrics } = rewarded(experiences)
    const returns = kept.map((e) => rewardToGo(tokenRewards(e), e.actionMask, gamma))
    const advantages = returns.map((row) => row.slice())
    whiten(kept.map((e, i) => ({ values: advantages[i], mask: e.actionMask })))
    return { experiences: kept.map((e, i) => assign(e, advantages[i], returns[i])), metrics }
  },
})
