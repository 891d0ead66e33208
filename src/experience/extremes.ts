import type { Experience } from './experience.js'

/** The worst and the best of some, for people to look at; one where they are the same, or where nothing has a reward. */
export function extremes(experiences: readonly Experience[]): Experience[] {
  const rewarded = experiences.filter((experience) => experience.reward !== undefined)
  if (rewarded.length === 0) return experiences.slice(0, 1)
  const worst = rewarded.reduce((a, b) => (b.reward! < a.reward! ? b : a))
  const best = rewarded.reduce((a, b) => (b.reward! > a.reward! ? b : a))
  return worst === best ? [worst] : [worst, best]
}
