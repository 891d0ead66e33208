import { z } from 'zod'
import { type Experience, groupBy, maskAll, tid } from '../../experience/index.js'
import { advantageFn, assign, spread } from './advantage.js'
import { runsByTask } from './runs.js'
import { meanOf, summarize } from './statistics.js'

/**
 * RAFT: reward-ranked selection within the runs of a task. A = 1 for the runs to imitate; the tokens of all others
 * leave the mask, so that neither the loss nor its divisor sees them, and their rows stay in the batch.
 *
 * `keep: best`: the runs with the highest reward of the group, all of them if several have it; `above`: every run. Both
 * only where the reward is above `threshold`. The reward of a run of several steps is that of its last one.
 *
 * `info.is_kept` stores the decision. An experience that has it is not ranked: a workflow or an operator selects by its
 * own rule that way, and the selection may be repeated on a part of a group. Expert data (`info.is_expert`) is kept.
 */
export const raft = advantageFn({
  doc: '1 for the best runs of the group; the others leave the loss (RAFT)',
  where: 'explorer',
  needs: ['reward'],
  selects: true,
  args: z.strictObject({
    keep: z
      .enum(['best', 'above'])
      .default('best')
      .describe('Runs of a group to imitate: those with its highest reward, or all above the threshold.'),
    threshold: z.number().default(0).describe('A run is imitated only if its reward is above this.'),
  }),
  compute(experiences, { keep, threshold }) {
    const open = experiences.filter((experience) => decisionOf(experience) === undefined)
    const isKept = new Map<Experience, boolean>()
    const measured: { reward_mean: number[]; reward_max: number[] } = { reward_mean: [], reward_max: [] }
    for (const runs of runsByTask(open)) {
      const rewards = runs.map(({ reward }) => reward)
      const best = Math.max(...runs.filter(({ steps }) => steps.some(isActive)).map(({ reward }) => reward))
      measured.reward_mean.push(meanOf(rewards))
      measured.reward_max.push(Math.max(...rewards))
      for (const { steps, reward } of runs) {
        const isChosen = reward > threshold && (keep === 'above' || reward === best)
        for (const step of steps) isKept.set(step, isChosen && isActive(step))
      }
    }
    const ranked = experiences.flatMap((experience) => {
      const decision = decisionOf(experience) ?? isKept.get(experience)
      return decision === undefined ? [] : [decide(experience, decision)]
    })
    const kept = ranked.filter(isActive)
    const groups = groupBy(ranked, tid).size
    const missing = experiences.length - ranked.length
    return {
      experiences: ranked,
      metrics: {
        ...summarize('group_rewards', { mean: measured.reward_mean, best: measured.reward_max }),
        kept_count: kept.length,
        kept_ratio: ranked.length > 0 ? kept.length / ranked.length : 0,
        group_count: groups,
        group_without_kept_count: groups - groupBy(kept, tid).size,
        ...(missing > 0 ? { missing_reward_count: missing } : {}),
      },
    }
  },
})

/** The decision made before this selection, if any. */
function decisionOf({ info }: Experience): boolean | undefined {
  if (info.is_expert === true) return true
  return typeof info.is_kept === 'boolean' ? info.is_kept : undefined
}

const isActive = ({ actionMask }: Experience): boolean => actionMask.includes(1)

function decide(experience: Experience, isKept: boolean): Experience {
  const chosen = isKept ? experience : maskAll(experience)
  const info = experience.info.is_expert === true ? experience.info : { ...experience.info, is_kept: isKept }
  return { ...assign(chosen, spread(chosen, 1)), info }
}
