import { isMean, SCORE_NAMES } from '../../base/score-names.js'
import type { Metrics } from '../monitor.js'
import { figure, percent } from './number.js'
import { Progress } from './progress.js'

/** What is known of a role. */
export class BoardRole {
  readonly name: string
  readonly progress = new Progress()
  /** The newest value of everything. */
  metrics: Record<string, number> = {}
  phase = ''
  /** When the phase began, in milliseconds. */
  since = 0

  constructor(name: string) {
    this.name = name
  }
}

export interface EvalScore {
  readonly step: number
  readonly set: string
  readonly metric: string
  readonly score: number
}

/** A number that is shown: the first of the metrics that is there. */
interface Figure {
  readonly label: string
  readonly metrics: readonly string[]
  readonly text?: (value: number) => string
}

const FIGURES: Readonly<Record<string, readonly Figure[]>> = {
  explorer: [
    { label: 'reward', metrics: ['rollout/reward/mean'] },
    { label: 'length', metrics: ['rollout/response_length/mean'] },
    { label: 'failed', metrics: ['rollout/failed_run_count'], text: (n) => (n > 0 ? figure(n) : '') },
    { label: 'tokens/s', metrics: ['explorer/tokens_per_second'] },
  ],
  trainer: [
    { label: 'reward', metrics: ['critic/score/mean'] },
    { label: 'loss', metrics: ['actor/final_loss', 'actor/loss'] },
    { label: 'KL', metrics: ['actor/kl_loss', 'actor/ppo_kl', 'actor/approx_kl'] },
    { label: 'entropy', metrics: ['actor/entropy'] },
    { label: 'clipped', metrics: ['actor/pg_clipfrac'], text: percent },
    { label: 'grad norm', metrics: ['actor/grad_norm'] },
    { label: 'value loss', metrics: ['critic/vf_loss'] },
    { label: 'staleness', metrics: ['sample/model_version_drift/mean'] },
    { label: 'tokens/s', metrics: ['perf/throughput'] },
  ],
}

/** The essential numbers of a role, as `label value`. */
export function figuresOf(role: string, metrics: Metrics): string[] {
  return (FIGURES[role] ?? []).flatMap(({ label, metrics: names, text = figure }) => {
    const name = names.find((one) => metrics[one] !== undefined)
    const shown = name === undefined ? '' : text(metrics[name])
    return shown === '' ? [] : [`${label} ${shown}`]
  })
}

/** The number of each evaluation set that says how good the answers are. */
export function scoresOf(step: number, metrics: Metrics): EvalScore[] {
  const scores = new Map<string, EvalScore>()
  for (const word of SCORE_NAMES) {
    for (const [key, score] of Object.entries(metrics)) {
      const parts = key.split('/')
      if (!['eval', 'bench'].includes(parts[0]) || !isMean(key, word)) continue
      const set = parts.slice(1, parts.lastIndexOf(word)).join('/')
      if (!scores.has(set))
        scores.set(set, { step, set, metric: parts.slice(parts.lastIndexOf(word)).join('/'), score })
    }
  }
  return [...scores.values()]
}
