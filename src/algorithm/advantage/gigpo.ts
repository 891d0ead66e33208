import { z } from 'zod'
import { type Experience, groupBy, rid, tid } from '../../experience/index.js'
import { positive } from '../entry.js'
import { advantageFn, rewardOf } from './advantage.js'
import { applyScores } from './group.js'
import { groupStats, meanOf, summarize } from './statistics.js'

const args = z.strictObject({
  omega: z.number().default(1).describe('Weight of the advantage among steps from the same state.'),
  gamma: z.number().min(0).max(1).default(1).describe('Discount of later rewards; 1: none.'),
  fnorm: z
    .enum(['none', 'std'])
    .default('none')
    .describe('What differences are divided by: nothing, or the deviation.'),
  epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
  step_reward_key: z.string().default('step_reward').describe('Key in `info` that holds the reward of a step.'),
  env_state_hash_key: z
    .string()
    .default('env_state_hash')
    .describe('Key in `info` that names the state a step began in.'),
})
type Args = z.output<typeof args>

/**
 * GiGPO: A = A_E + ω·A_S, for runs of several steps.
 * A_E: the run's total reward, normalized over the runs of its task. A_S: the step's discounted reward to go, normalized
 * over all steps of the batch that began in the same state (equal `info[env_state_hash_key]`); 0 where no other did.
 * normalize: (x − mean)/(d + ε), d = 1 (`fnorm: none`) or the deviation (`std`); a single run: mean 0, d 1.
 * A step's reward is `info[step_reward_key]` if any step of the run has one, else the run's reward at its last step.
 */
export const gigpo = advantageFn({
  doc: 'episode advantage plus advantage among steps from the same state (GiGPO)',
  where: 'explorer',
  stepWise: true,
  needs: ['reward'],
  args,
  compute(experiences, options) {
    const episode = new Map<Experience, number>()
    const toGo = new Map<Experience, number>()
    const measured: { episode_reward_mean: number[]; episode_reward_std: number[] } = {
      episode_reward_mean: [],
      episode_reward_std: [],
    }
    for (const task of groupBy(experiences, tid).values()) {
      const all = [...groupBy(task, rid).values()].map((run) => [...run].sort((a, b) => a.eid.step - b.eid.step))
      const runs = all.filter((run) => stepRewards(run, options) !== undefined)
      if (runs.length === 0) continue
      const rewards = runs.map((run) => stepRewards(run, options)!)
      const totals = rewards.map((steps) => steps.reduce((a, b) => a + b, 0))
      const { mean, std } = groupStats(totals)
      measured.episode_reward_mean.push(mean)
      measured.episode_reward_std.push(std)
      const scores = normalize(totals, options)
      runs.forEach((run, i) => {
        let next = 0
        for (let t = run.length - 1; t >= 0; t--) {
          next = rewards[i][t] + options.gamma * next
          toGo.set(run[t], next)
          episode.set(run[t], scores[i])
        }
      })
    }
    const kept = experiences.filter((experience) => episode.has(experience))
    const missing = experiences.length - kept.length
    const anchors = anchorGroups(kept, options.env_state_hash_key)
    const step = new Map<Experience, number>()
    for (const group of anchors.filter((members) => members.length > 1)) {
      const scores = normalize(
        group.map((member) => toGo.get(member)!),
        options,
      )
      group.forEach((member, i) => void step.set(member, scores[i]))
    }
    const total = new Map(kept.map((e) => [e, episode.get(e)! + options.omega * (step.get(e) ?? 0)]))
    const shared = anchors.filter((group) => group.length > 1)
    return {
      experiences: applyScores(kept, total),
      metrics: {
        ...summarize('gigpo', measured),
        'gigpo/anchor_groups_total': anchors.length,
        'gigpo/anchor_groups_size_gt1': shared.length,
        'gigpo/anchor_group_hit_ratio': anchors.length > 0 ? shared.length / anchors.length : 0,
        'gigpo/mean_abs_A_E': meanOf(kept.map((e) => Math.abs(episode.get(e)!))),
        'gigpo/mean_abs_A_S': meanOf(kept.map((e) => Math.abs(step.get(e) ?? 0))),
        experience_count: kept.length,
        ...(missing > 0 ? { missing_reward_count: missing } : {}),
      },
    }
  },
})

/** Undefined for a run that was never rewarded, or where a reward is not finite: its total would be nothing. */
function stepRewards(run: readonly Experience[], { step_reward_key: key }: Args): number[] | undefined {
  const own = run.map((step) => step.info[key])
  const numbers = own.filter((value) => typeof value === 'number')
  if (!numbers.every(Number.isFinite)) return undefined
  if (numbers.length > 0) return own.map((value) => (typeof value === 'number' ? value : 0))
  const last = rewardOf(run[run.length - 1])
  return last === undefined ? undefined : run.map((_, t) => (t === run.length - 1 ? last : 0))
}

function normalize(values: readonly number[], { fnorm, epsilon }: Args): number[] {
  const { mean, std } = groupStats(values)
  const unit = fnorm === 'std' ? std : 1
  return values.map((value) => (value - mean) / (unit + epsilon))
}

/** Experiences of the whole batch by the state they began in; those that do not say are left out. */
function anchorGroups(experiences: readonly Experience[], key: string): Experience[][] {
  const groups = new Map<string, Experience[]>()
  for (const experience of experiences) {
    const hash = experience.info[key]
    if (typeof hash !== 'string' && typeof hash !== 'number') continue
    const group = groups.get(String(hash))
    if (group) group.push(experience)
    else groups.set(String(hash), [experience])
  }
  return [...groups.values()]
}
