import { type Experience, groupBy, rid, tid } from '../../experience/index.js'
import { type AdvantageResult, rewardOf } from './advantage.js'
import { applyScores } from './group.js'
import { summarize } from './statistics.js'

export interface RunVerdict {
  /** A score per run; undefined = the whole group is left out. */
  readonly scores: readonly number[] | undefined
  readonly metrics: Readonly<Record<string, number>>
}

/** A run of several steps in their order, and the reward of its last one. */
interface Run {
  readonly steps: readonly Experience[]
  readonly reward: number
}

/**
 * For runs that give several experiences (one per step): the reward of a run is that of its last step, runs are scored
 * within their task, and every step of a run gets the run's score, divided by its number of steps with `stepNorm`.
 * A run whose last step has no reward takes no part.
 */
export function perRun(
  experiences: readonly Experience[],
  stepNorm: boolean,
  rule: (rewards: readonly number[], runs: readonly Run[]) => RunVerdict,
): AdvantageResult {
  const tasks = runsByTask(experiences)
  const scores = new Map<Experience, number>()
  const measured: Record<string, number[]> = {}
  let rewarded = 0
  let skipped = 0
  for (const runs of tasks) {
    const verdict = rule(
      runs.map((run) => run.reward),
      runs,
    )
    for (const [name, value] of Object.entries(verdict.metrics)) {
      measured[name] ??= []
      measured[name].push(value)
    }
    if (!verdict.scores) skipped++
    for (const [i, { steps }] of runs.entries()) {
      rewarded += steps.length
      const score = verdict.scores?.[i]
      if (score !== undefined) for (const step of steps) scores.set(step, stepNorm ? score / steps.length : score)
    }
  }
  const result = applyScores(experiences, scores)
  const missing = experiences.length - rewarded
  return {
    experiences: result,
    metrics: {
      ...summarize('group_advantages', measured),
      experience_count: result.length,
      filtered_count: rewarded - result.length,
      skipped_group_ratio: tasks.length > 0 ? skipped / tasks.length : 0,
      ...(missing > 0 ? { missing_reward_count: missing } : {}),
    },
  }
}

/** The rewarded runs of each task; tasks that have none are left out. */
export function runsByTask(experiences: readonly Experience[]): Run[][] {
  const tasks = [...groupBy(experiences, tid).values()].map((task) =>
    [...groupBy(task, rid).values()].flatMap((listed) => {
      const steps = [...listed].sort((a, b) => a.eid.step - b.eid.step)
      const reward = rewardOf(steps[steps.length - 1])
      return reward === undefined ? [] : [{ steps, reward }]
    }),
  )
  return tasks.filter((runs) => runs.length > 0)
}
