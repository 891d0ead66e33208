import type { MetricInfo } from '../../src/studio/api.js'

/** A chart of the first page: its title, and the metrics that it shows where a run has them. */
interface Wanted {
  readonly title: string
  readonly names: readonly string[] | RegExp
  /** What it means that the run has none. */
  readonly empty: string
}

/** Charts whose further names repeat the first. */
const ONE_LINE = new Set(['Reward', 'Loss', 'Response length'])

/** Of an evaluation, the more telling first. */
const MEASURES = ['accuracy', 'success', 'score', 'reward']
const MEASURE = /\/(accuracy|success|score|reward)((?:\/(?:mean|best)@\d+(?:\/mean)?)?)$/

/** In the order in which one asks: does it learn, is it healthy, is it fast. */
const WANTED: readonly Wanted[] = [
  { title: 'Reward', names: ['rollout/reward/mean', 'critic/score/mean'], empty: 'No rewards yet.' },
  {
    title: 'Evaluation',
    names: /^(eval|bench)\/[^/]+\/(accuracy|score|reward|success)(\/(mean|best)@\d+(\/mean)?)?$/,
    empty: 'No evaluation yet: explorer.eval_interval says when.',
  },
  { title: 'Loss', names: ['actor/final_loss', 'actor/loss'], empty: 'Nothing is trained yet.' },
  { title: 'Entropy', names: ['actor/entropy'], empty: 'The algorithm reports no entropy.' },
  { title: 'KL', names: ['actor/kl_loss', 'actor/ppo_kl'], empty: 'The algorithm reports no KL.' },
  { title: 'Clip fraction', names: ['actor/pg_clipfrac'], empty: 'The algorithm clips nothing.' },
  { title: 'Gradient norm', names: ['actor/grad_norm'], empty: 'Nothing is trained yet.' },
  {
    title: 'Response length',
    names: ['rollout/response_length/mean', 'response_length/mean'],
    empty: 'No responses yet.',
  },
  { title: 'Tokens per second', names: ['explorer/tokens_per_second', 'perf/throughput'], empty: 'Not measured yet.' },
  { title: 'Staleness', names: ['sample/model_version_drift/mean'], empty: 'Nothing is trained yet.' },
  {
    title: 'Log-prob mismatch',
    names: ['mismatch/logprob_diff/mean', 'mismatch/kl'],
    empty: 'Sampler and trainer are not compared.',
  },
]

export interface ChosenChart {
  readonly title: string
  readonly names: readonly string[]
  readonly empty: string
}

/** More lines than this are a tangle. */
const MOST_LINES = 8

/** The charts that matter with the metrics of this run; those without any are last. */
export function chartsThatMatter(metrics: readonly Pick<MetricInfo, 'name'>[]): ChosenChart[] {
  const known = [...new Set(metrics.map(({ name }) => name))]
  const charts = WANTED.map(({ title, names, empty }) => {
    const has =
      names instanceof RegExp ? known.filter((name) => names.test(name)) : names.filter((name) => known.includes(name))
    return { title, empty, names: withoutTwins(title, has).slice(0, MOST_LINES) }
  })
  return [...charts.filter(({ names }) => names.length > 0), ...charts.filter(({ names }) => names.length === 0)]
}

/** What says the same as another is left out: one reward, one loss, and of each evaluated set the most telling measure. */
function withoutTwins(title: string, names: readonly string[]): readonly string[] {
  if (ONE_LINE.has(title)) return names.slice(0, 1)
  if (title !== 'Evaluation') return names
  const twinOf = (name: string, measure: string) => name.replace(MEASURE, `/${measure}$2`)
  return names.filter((name) => {
    const rank = MEASURES.indexOf(MEASURE.exec(name)?.[1] ?? '')
    return !MEASURES.slice(0, Math.max(0, rank)).some((measure) => names.includes(twinOf(name, measure)))
  })
}

/** Metrics whose names contain every word, grouped by what comes before the first slash. */
export function foundMetrics(metrics: readonly MetricInfo[], search: string): [string, MetricInfo[]][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = new Map<string, MetricInfo[]>()
  for (const metric of metrics) {
    if (!words.every((word) => metric.name.toLowerCase().includes(word))) continue
    const group = metric.name.split('/', 1)[0]
    groups.set(group, [...(groups.get(group) ?? []), metric])
  }
  return [...groups]
}
