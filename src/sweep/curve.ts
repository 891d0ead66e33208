import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVAL_SCORES, isMean } from '../base/score-names.js'
import { type MetricsRow, parseMetrics } from '../monitor/metrics-file.js'
import type { Axis } from './spec.js'

/** A number of a run over what it had spent by then, in order. */
export type Curve = readonly { readonly x: number; readonly y: number }[]

/** What every rollout counts: tokens that were sampled for training. */
const TOKENS = 'rollout/sampled_tokens/sum'

/** The numbers that a run has written, by step. */
export class RunNumbers {
  readonly #explorer: readonly MetricsRow[]
  readonly #trainer: readonly MetricsRow[]

  constructor(explorer: readonly MetricsRow[], trainer: readonly MetricsRow[]) {
    this.#explorer = explorer
    this.#trainer = trainer
  }

  /** Of a job's folder; whatever is not there has no numbers. */
  static of(dir: string): RunNumbers {
    const read = (role: string) => {
      const file = join(dir, 'monitor', `${role}.jsonl`)
      return existsSync(file) ? parseMetrics(readFileSync(file, 'utf8').split('\n')) : []
    }
    return new RunNumbers(read('explorer'), read('trainer'))
  }

  /** Names of all numbers. */
  names(): string[] {
    const rows = [...this.#explorer, ...this.#trainer]
    return [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))]
  }

  /** How good the model is, where nobody says by what: an evaluation, else the reward of the rollouts, else the loss. */
  defaultMetric(): string | undefined {
    const names = this.names()
    const evals = names.filter((name) => name.startsWith('eval/'))
    const found = EVAL_SCORES.flatMap((score) => evals.find((name) => isMean(name, score)) ?? [])
    return found[0] ?? ['rollout/reward/mean', 'actor/loss'].find((name) => names.includes(name))
  }

  /** A number over the axis. Tokens are those of the explorer's steps so far; the trainer's steps are its own. */
  curve(metric: string, axis: Axis): Curve {
    const isExplorer = this.#explorer.some(({ metrics }) => metric in metrics)
    const rows = isExplorer ? this.#explorer : this.#trainer
    const start = rows[0]?.time ?? 0
    let tokens = 0
    return rows.flatMap(({ step, time, metrics }) => {
      tokens += metrics[TOKENS] ?? 0
      const y = metrics[metric]
      if (y === undefined || !Number.isFinite(y)) return []
      if (axis === 'tokens' && !isExplorer) return []
      return [{ x: { steps: step, tokens, seconds: time - start }[axis], y }]
    })
  }
}
