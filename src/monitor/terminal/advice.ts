import type { Metrics } from '../monitor.js'
import { duration, figure, percent } from './number.js'

/** Something that worries people, in the words of a metric. */
interface Concern {
  readonly name: string
  /** How bad it is; undefined: nothing to say. */
  measure(metrics: Metrics, memory: Memory): number | undefined
  say(value: number, metrics: Metrics, memory: Memory): string
  /** Steps in a row before it is said: one odd step is no news. */
  readonly patience?: number
  /** Whether it has become so much worse that it is said again. */
  isWorse?(value: number, said: number): boolean
}

/** What earlier steps have shown. */
interface Memory {
  isGrouped: boolean
  entropies: number[]
}

/** Turns the numbers of a run into the few sentences that explain them, each once. */
export class Advice {
  readonly #memory: Memory = { isGrouped: false, entropies: [] }
  readonly #said = new Map<string, number>()
  readonly #streaks = new Map<string, number>()

  /** What is worth saying after a step of a role. */
  take(metrics: Metrics): string[] {
    this.#remember(metrics)
    return CONCERNS.flatMap((concern) => this.#consider(concern, metrics))
  }

  #consider(concern: Concern, metrics: Metrics): string[] {
    const { name, patience = 1, isWorse } = concern
    const value = concern.measure(metrics, this.#memory)
    if (value === undefined) return []
    const streak = Number.isFinite(value) || value > 0 ? (this.#streaks.get(name) ?? 0) + 1 : 0
    this.#streaks.set(name, streak)
    if (streak < patience) return []
    const said = this.#said.get(name)
    if (said !== undefined && !isWorse?.(value, said)) return []
    this.#said.set(name, value)
    return [concern.say(value, metrics, this.#memory)]
  }

  #remember(metrics: Metrics): void {
    if (Object.keys(metrics).some((name) => name.includes('group_advantages/'))) this.#memory.isGrouped = true
    const entropy = metrics['actor/entropy']
    if (Number.isFinite(entropy) && this.#memory.entropies.length < 3) this.#memory.entropies.push(entropy)
  }
}

/** Said to end a streak: measured, and there is nothing to worry about. */
const FINE = Number.NEGATIVE_INFINITY
const beyond = (value: number | undefined, least: number) =>
  value === undefined ? undefined : value >= least ? value : FINE

/** The metric under its own name, or under that of the part that computed it. */
function find(metrics: Metrics, name: string): number | undefined {
  return metrics[name] ?? metrics[`experience_pipeline/${name}`] ?? metrics[`advantage/${name}`]
}

const CONCERNS: readonly Concern[] = [
  {
    name: 'equal rewards',
    patience: 2,
    measure: (metrics) => beyond(find(metrics, 'group_advantages/reward_std/zero_ratio'), 0.5),
    say: (share) =>
      `all rewards are equal in ${percent(share)} of the groups: these give no gradient. ` +
      'Tasks of a different difficulty or more runs per task (repeat_times) give more to learn from',
    isWorse: (share, said) => share - said >= 0.25,
  },
  {
    name: 'loss near zero',
    measure: (metrics, { isGrouped }) => {
      const loss = metrics['actor/pg_loss'] ?? metrics['actor/loss']
      // without a gradient there is another reason for it
      const learns = metrics['actor/grad_norm'] > 0
      return isGrouped && learns && loss !== undefined && Math.abs(loss) < 0.02 ? Math.abs(loss) : undefined
    },
    say: () =>
      'loss near 0 is normal for GRPO and its relatives: the advantages of a group add up to 0. ' +
      'Reward and evaluation show whether it learns',
  },
  {
    name: 'refused updates',
    measure: (metrics) => {
      const norm = metrics['actor/grad_norm']
      return metrics['actor/refused_updates'] ?? (norm !== undefined && !Number.isFinite(norm) ? 1 : undefined)
    },
    say: () =>
      'a gradient that is not finite was dropped and the weights stayed as they were. ' +
      'If this keeps happening, lower the learning rate and look for rewards that are not finite',
  },
  {
    name: 'entropy',
    patience: 2,
    measure: (metrics, { entropies }) => {
      const [entropy, first] = [metrics['actor/entropy'], Math.max(...entropies)]
      if (entropy === undefined || entropies.length < 3) return undefined
      return entropy < 0.05 && entropy < first / 10 ? 1 / Math.max(entropy, 1e-6) : FINE
    },
    say: (_, metrics, { entropies }) =>
      `entropy fell from ${figure(Math.max(...entropies))} to ${figure(metrics['actor/entropy'])}: the model gives ` +
      'nearly the same answer every time and explores little. A lower learning rate, a KL term or an entropy bonus keeps it up',
  },
  {
    name: 'mismatch',
    patience: 2,
    measure: (metrics) => {
      const stale = (metrics['sample/model_version_drift/mean'] ?? 0) > 0
      return beyond(metrics['mismatch/logprob_diff/mean'], stale ? 0.5 : 0.1)
    },
    say: (difference, metrics) =>
      `log-probs of sampler and trainer differ by ${figure(difference)} per token: ` +
      ((metrics['sample/model_version_drift/mean'] ?? 0) > 0
        ? 'the experiences are too old; let the explorer run less far ahead'
        : 'same weights, different arithmetic; a higher precision or a rollout correction helps'),
    isWorse: (now, said) => now > 3 * said,
  },
  {
    name: 'cut answers',
    patience: 2,
    measure: (metrics) => beyond(metrics['response_length/clip_ratio'], 0.5),
    say: (share) =>
      `${percent(share)} of the answers were cut at the length limit (max_response_tokens): ` +
      'they never finish and rarely earn a reward',
    isWorse: (share, said) => share - said >= 0.25,
  },
  {
    name: 'left out',
    patience: 2,
    measure: (metrics) => {
      const lost = ['too_long', 'empty_mask'].reduce((sum, name) => sum + (metrics[`sample/skipped/${name}`] ?? 0), 0)
      return beyond(lost / (metrics['sample/experience_count'] || lost), 0.05)
    },
    say: (share) =>
      `${percent(share)} of the sequences are left out of training: too long for the model, or cut before anything ` +
      'that is to be learned (max_model_len, max_prompt_tokens). sample/skipped/* counts them',
    isWorse: (share, said) => share - said >= 0.25,
  },
  {
    name: 'missing rewards',
    measure: (metrics) => {
      const count = find(metrics, 'missing_reward_count')
      return count !== undefined && count > 0 ? count : undefined
    },
    say: (count) => `${figure(count)} experiences of this step have no reward: they were left out, not counted as 0`,
    isWorse: (count, said) => count >= 4 * said,
  },
  {
    name: 'failed runs',
    measure: (metrics) => {
      const count = metrics['rollout/failed_run_count']
      return count !== undefined && count > 0 ? count : undefined
    },
    say: (count, metrics) =>
      `${figure(count)} rollouts of this step failed${reasons(metrics)}: ` +
      'they were left out. `trinity log -k runner -l ERROR` shows why',
    isWorse: (count, said) => count >= 4 * said,
  },
  {
    name: 'late event loop',
    patience: 2,
    measure: (metrics) => beyond(metrics['explorer/event_loop_lag_ms/p99'], 500),
    say: (ms) =>
      `the event loop was late by ${duration(ms / 1000)}: a workflow or a reward computes for a long time ` +
      'and keeps the others waiting',
    isWorse: (ms, said) => ms > 4 * said,
  },
]

function reasons(metrics: Metrics): string {
  const begin = 'rollout/failed/'
  const all = Object.entries(metrics).filter(([name, count]) => name.startsWith(begin) && count > 0)
  return all.length === 0 ? '' : ` (${all.map(([name, n]) => `${name.slice(begin.length)} ${figure(n)}`).join(', ')})`
}
