import { isMean, SCORE_NAMES } from '../../base/score-names.js'
import type { Metrics } from '../monitor.js'
import type { Example } from './example.js'
import { figure, percent } from './number.js'
import { Progress } from './progress.js'
import { Series } from './series.js'
import { Spent } from './spent.js'

/** In the way the data takes. */
export const LOOPS: readonly string[] = ['explorer', 'trainer']

/** What is known of a role. */
export class BoardRole {
  readonly name: string
  readonly progress = new Progress()
  readonly spent = new Spent()
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
  /** Rollouts and tasks without an answer, which count as 0 in the score; empty if there are none. */
  readonly unanswered: string
}

/** The scores of an evaluation set. */
export interface EvalCourse {
  readonly first: EvalScore
  readonly best: EvalScore
  readonly last: EvalScore
  readonly series: Series
}

/** A number whose course is shown: of the first role that has it. */
const COURSES: Readonly<Record<string, readonly (readonly [role: string, metric: string])[]>> = {
  // the explorer's rewards where there is one: they come first and include what is filtered out later
  reward: [
    ['explorer', 'rollout/reward/mean'],
    ['trainer', 'critic/score/mean'],
  ],
  entropy: [['trainer', 'actor/entropy']],
  length: [
    ['explorer', 'rollout/response_length/mean'],
    ['trainer', 'response_length/mean'],
  ],
  'tokens/s': [
    ['explorer', 'explorer/tokens_per_second'],
    ['trainer', 'perf/throughput'],
  ],
}

/** Everything that is known of a run. */
export class Board {
  readonly roles = new Map<string, BoardRole>()
  readonly evals = new Map<string, EvalCourse>()
  readonly courses = new Map<string, { readonly source: number; readonly series: Series }>()
  examples: readonly Example[] = []
  /** Whose they are. */
  exampleRole = ''

  role(name: string): BoardRole {
    const state = this.roles.get(name) ?? new BoardRole(name)
    this.roles.set(name, state)
    return state
  }

  /** Explorer and trainer; before them whatever prepares, until they go on. */
  get ordered(): BoardRole[] {
    const all = [...this.roles.values()]
    const loops = LOOPS.flatMap((name) => this.roles.get(name) ?? [])
    const begun = Math.max(...loops.map(({ phase, since }) => (phase === '' ? -Infinity : since)))
    return [...all.filter(({ name, since }) => !LOOPS.includes(name) && since > begun), ...loops]
  }

  /** The role whose end is the end of the run. */
  get pace(): Progress | undefined {
    const loops = LOOPS.flatMap((name) => this.roles.get(name)?.progress ?? [])
    return loops.filter(({ total }) => total !== undefined && Number.isFinite(total)).at(-1)
  }

  /** Seconds until the last role is done. */
  get left(): number | undefined {
    const lefts = [...this.roles.values()].flatMap(({ progress }) => progress.left ?? [])
    return lefts.length === 0 ? undefined : Math.max(...lefts)
  }

  score(score: EvalScore): EvalCourse {
    const known = this.evals.get(score.set)
    const first = known && known.first.step < score.step ? known.first : score
    const best = known && known.best.score >= score.score ? known.best : score
    const course = { first, best, last: score, series: known?.series ?? new Series() }
    course.series.add(score.step, score.score)
    this.evals.set(score.set, course)
    return course
  }

  take(role: string, step: number, metrics: Metrics): void {
    Object.assign(this.role(role).metrics, metrics)
    for (const [label, sources] of Object.entries(COURSES)) {
      const source = sources.findIndex(([whose, name]) => whose === role && metrics[name] !== undefined)
      const known = this.courses.get(label)
      if (source < 0 || (known && known.source < source)) continue
      const series = known?.source === source ? known.series : new Series()
      series.add(step, metrics[sources[source][1]])
      this.courses.set(label, { source, series })
    }
  }

  /** The explorer's, where there is one: they come first. */
  show(role: string, examples: readonly Example[]): void {
    if (role !== this.exampleRole && this.exampleRole === 'explorer') return
    this.exampleRole = role
    this.examples = examples
  }
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

/** The essential numbers of a role, as `label value`; not those that are shown elsewhere. */
export function figuresOf(role: string, metrics: Metrics, elsewhere: readonly string[] = []): string[] {
  return (FIGURES[role] ?? []).flatMap(({ label, metrics: names, text = figure }) => {
    const name = names.find((one) => metrics[one] !== undefined)
    if (name === undefined || elsewhere.includes(name)) return []
    const shown = text(metrics[name])
    return shown === '' ? [] : [`${label} ${shown}`]
  })
}

/** The metrics whose course is shown, and the trainer's word for the same. */
export function coursed(board: Board): string[] {
  const reward = board.courses.has('reward') ? COURSES.reward.map(([, name]) => name) : []
  return [...reward, ...[...board.courses].map(([label, { source }]) => COURSES[label][source][1])]
}

/** The number of each evaluation set that says how good the answers are. */
export function scoresOf(step: number, metrics: Metrics): EvalScore[] {
  const scores = new Map<string, EvalScore>()
  for (const word of SCORE_NAMES) {
    for (const [key, score] of Object.entries(metrics)) {
      const parts = key.split('/')
      if (!['eval', 'bench'].includes(parts[0]) || !isMean(key, word)) continue
      const set = parts.slice(1, parts.lastIndexOf(word)).join('/')
      if (scores.has(set)) continue
      const metric = parts.slice(parts.lastIndexOf(word)).join('/')
      scores.set(set, { step, set, metric, score, unanswered: unansweredIn(metrics, `${parts[0]}/${set}`) })
    }
  }
  return [...scores.values()]
}

function unansweredIn(metrics: Metrics, set: string): string {
  const part = (count: string, all: string, what: string) => {
    const [some = 0, of] = [metrics[`${set}/${count}`], metrics[`${set}/${all}`]]
    return some > 0 ? [`${figure(some)}${of === undefined ? '' : ` of ${figure(of)}`} ${what}`] : []
  }
  return [
    ...part('failed_run_count', 'run_count', 'rollouts failed'),
    ...part('too_long_task_count', 'finished_task_count', 'prompts too long'),
  ].join(', ')
}
