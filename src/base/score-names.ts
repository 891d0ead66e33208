/** Metrics that rate answers, in the order in which they decide about the best checkpoint. */
export const SCORE_NAMES: readonly string[] = ['accuracy', 'score', 'reward']

/** Metrics that rate answers or episodes, the most telling first. A rollout without an answer counts as 0 in each. */
export const EVAL_SCORES: readonly string[] = ['accuracy', 'success', 'score', 'reward']

/**
 * Whether a metric is the mean of the named score: `eval/<set>/accuracy`, `eval/<set>/accuracy/mean`,
 * `eval/<set>/accuracy/mean@4`, or `eval/<set>/accuracy/mean@4/mean` (`monitor.detailed_stats`).
 */
export function isMean(key: string, name: string): boolean {
  const parts = key.split('/')
  const at = parts.lastIndexOf(name)
  if (at < 0) return false
  return /^(mean(@\d+(\/mean)?)?)?$/.test(parts.slice(at + 1).join('/'))
}

/** Returns the name of a mean as it is without `monitor.detailed_stats`: both name the same number. */
export function plainMeanName(key: string): string {
  return key.replaceAll(/(\/mean@\d+)\/mean(?=,|$)/g, '$1')
}
