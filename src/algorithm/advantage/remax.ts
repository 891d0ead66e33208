import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { uid } from '../../experience/index.js'
import { advantageFn, assign, rewarded } from './advantage.js'
import { rewardToGo, tokenRewards } from './returns.js'

/** ReMax: returns = undiscounted reward to go; A = returns − reward of the greedy answer (`columns.reward_baseline`). */
export const remax = advantageFn({
  doc: 'reward to go minus the reward of the greedy answer (ReMax)',
  where: 'trainer',
  needs: ['reward', 'columns.reward_baseline'],
  args: z.strictObject({}),
  compute(experiences) {
    const { kept, metrics } = rewarded(experiences)
    const result = kept.map((experience) => {
      const baseline = experience.columns?.reward_baseline ?? experience.info.reward_baseline
      if (typeof baseline !== 'number') {
        throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no reward baseline`, {
          path: 'columns.reward_baseline',
          hint: 'the workflow must also answer greedily and store that reward in columns.reward_baseline',
        })
      }
      const returns = rewardToGo(tokenRewards(experience), experience.actionMask, 1)
      const advantages = returns.map((value, i) => (experience.actionMask[i] !== 0 ? value - baseline : 0))
      return assign(experience, advantages, returns)
    })
    return { experiences: result, metrics }
  },
})
