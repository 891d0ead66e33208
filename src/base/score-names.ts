/** Names of metrics that say how good answers are, best first. */
export const SCORE_NAMES = ['accuracy', 'score', 'reward']

/** Whether a metric is the mean of what is named: `eval/<set>/accuracy`, `eval/<set>/accuracy/mean`, `eval/<set>/accuracy/mean@4` */
export function isMean(key: string, name: string): boolean {
  const parts = key.split('/')
  const at = parts.lastIndexOf(name)
  if (at < 0) return false
  const rest = parts.slice(at + 1)
  return rest.length === 0 || (rest.length === 1 && /^mean(@\d+)?$/.test(rest[0]))
}
