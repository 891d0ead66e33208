import { z } from 'zod'
import { fraction } from '../entry.js'
import { advantageFn, assign, rewarded, tokenInput } from './advantage.js'
import { gae, tokenRewards, whiten } from './returns.js'

/** GAE with a critic; returns = A + V; then A is whitened over the active tokens of the batch. */
export const ppo = advantageFn({
  doc: 'generalized advantage estimation with a critic',
  where: 'trainer',
  needs: ['reward', 'values'],
  args: z.strictObject({
    gamma: fraction.default(1).describe('Discount of later rewards; 1: none.'),
    lam: fraction.default(1).describe('λ of generalized advantage estimation: 0 trusts the critic, 1 the rewards.'),
  }),
  compute(experiences, { gamma, lam }) {
    const { kept, metrics } = rewarded(experiences)
    const rows = kept.map((e) => gae(tokenRewards(e), tokenInput(e, 'values'), e.actionMask, gamma, lam))
    whiten(kept.map((e, i) => ({ values: rows[i].advantages, mask: e.actionMask })))
    return { experiences: kept.map((e, i) => assign(e, rows[i].advantages, rows[i].returns)), metrics }
  },
})
