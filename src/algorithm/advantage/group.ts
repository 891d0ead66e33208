import { type Experience, groupBy, tid } from '../../experience/index.js'
import { type AdvantageResult, assign, rewarded, rewardOf, spread } from './advantage.js'
import { summarize } from './statistics.js'

/** What a rule says of one group: a score per member (undefined = leave it out) and numbers to report. */
export interface GroupVerdict {
  readonly scores: readonly (number | undefined)[]
  readonly metrics: Readonly<Record<string, number>>
}

/**
 * Scores experiences within the runs of their task. Members without a reward take no part. The metrics of the groups
 * are reported as `group_advantages/<name>/{mean,max,min}`.
 */
export function perGroup(
  experiences: readonly Experience[],
  rule: (rewards: readonly number[], members: readonly Experience[]) => GroupVerdict,
  reward: (experience: Experience) => number | undefined = rewardOf,
): AdvantageResult {
  const { kept, metrics } = rewarded(experiences)
  const scores = new Map<Experience, number | undefined>()
  const measured: Record<string, number[]> = {}
  for (const group of groupBy(kept, tid).values()) {
    const verdict = rule(
      group.map((experience) => reward(experience)!),
      group,
    )
    group.forEach((experience, i) => void scores.set(experience, verdict.scores[i]))
    for (const [name, value] of Object.entries(verdict.metrics)) {
      measured[name] ??= []
      measured[name].push(value)
    }
  }
  return { experiences: applyScores(kept, scores), metrics: { ...summarize('group_advantages', measured), ...metrics } }
}

/** Spreads each score over its sequence; what has none is left out. Keeps the order. */
export function applyScores(
  experiences: readonly Experience[],
  scores: ReadonlyMap<Experience, number | undefined>,
): Experience[] {
  return experiences.flatMap((experience) => {
    const score = scores.get(experience)
    return score === undefined ? [] : [assign(experience, spread(experience, score))]
  })
}
