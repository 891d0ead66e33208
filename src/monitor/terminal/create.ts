import pc from 'picocolors'
import { redact } from '../../base/secret/index.js'
import type { RunSummary, RunView } from '../view.js'
import { Advice } from './advice.js'
import { BoardRole, type EvalScore, figuresOf, scoresOf } from './board.js'
import { LiveBlock, packed, SafeStream, shorten, sparkline, type ViewStream } from './live.js'
import { duration, figure } from './number.js'
import { summaryLines } from './summary.js'

export interface ViewOptions {
  /** Default: standard output. */
  readonly stream?: ViewStream & { readonly isTTY?: boolean }
  /** One live view instead of lines. Default: whether the stream is a terminal that can do it. */
  readonly isTTY?: boolean
  readonly isColored?: boolean
  /** Milliseconds. */
  readonly now?: () => number
  /** Shown at the top: name of the run. */
  readonly title?: string
  /** Changes the lines that stay, such as commands in them. */
  readonly words?: (text: string) => string
}

/** What the terminal shows of a run. */
export function createView(options: ViewOptions = {}): RunView {
  const stream = options.stream ?? process.stdout
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  const isTTY = options.isTTY ?? (stream.isTTY === true && TERM !== 'dumb')
  const isColored = options.isColored ?? (!NO_COLOR && (isTTY || Boolean(FORCE_COLOR)))
  return new View(stream, isTTY, isColored, options)
}

/** In the way the data takes. */
const LOOPS = ['explorer', 'trainer']
const REDRAW_MS = 100
const TICK_MS = 1000
/** How often a phase of something else than explorer and trainer is told in plain lines. */
const PHASE_MS = 5000
const DEFAULT_WIDTH = 100
/** Width of the labels. */
const INDENT = 10

class View implements RunView {
  readonly #stream: ViewStream
  readonly #block: LiveBlock | undefined
  readonly #colors: ReturnType<typeof pc.createColors>
  readonly #now: () => number
  readonly #title: string
  readonly #words: (text: string) => string
  readonly #begun: number
  readonly #roles = new Map<string, BoardRole>()
  readonly #advice = new Advice()
  readonly #notes = new Set<string>()
  readonly #rewards: number[] = []
  readonly #evals = new Map<string, { first: EvalScore; best: EvalScore; last: EvalScore }>()
  #redraw: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined

  constructor(stream: ViewStream, isLive: boolean, isColored: boolean, options: ViewOptions) {
    const { now = Date.now, title = 'trinity', words = (text) => text } = options
    this.#stream = new SafeStream(stream)
    this.#colors = pc.createColors(isColored)
    this.#now = now
    this.#title = title
    this.#words = words
    this.#begun = now()
    if (isLive) {
      this.#block = new LiveBlock(this.#stream)
      this.#tick = setInterval(() => this.#draw(), TICK_MS)
      this.#tick.unref()
    }
  }

  expect(role: string, steps: number): void {
    this.#role(role).progress.total = steps
    this.#change()
  }

  phase(role: string, what: string): void {
    const state = this.#role(role)
    if (state.phase === what) return
    const now = this.#now()
    const isOther = !LOOPS.includes(role)
    if (!this.#block && isOther && (state.phase === '' || now - state.since >= PHASE_MS)) {
      this.#print(`${this.#label(role)} ${what}`)
      state.since = now
    }
    state.phase = what
    if (this.#block) state.since = now
    this.#change()
  }

  metrics(role: string, step: number, metrics: Readonly<Record<string, number>>): void {
    const state = this.#role(role)
    const scores = scoresOf(step, metrics)
    for (const score of scores) this.#evaluated(score)
    const figures = figuresOf(role, metrics)
    if (scores.length === 0 || figures.length > 0) state.progress.reach(step, this.#now())
    Object.assign(state.metrics, metrics)
    const reward = metrics['rollout/reward/mean'] ?? metrics['critic/score/mean']
    if (reward !== undefined && role === this.#rewardRole()) this.#rewards.push(reward)
    if (!this.#block && figures.length > 0) this.#print(this.#stepLine(state, figures, metrics))
    for (const text of this.#advice.take(metrics)) this.#print(`${this.#colors.cyan('hint'.padEnd(8))} ${text}`)
    this.#change()
  }

  note(text: string): void {
    if (this.#notes.has(text)) return
    this.#notes.add(text)
    this.#print(`${this.#colors.yellow('note'.padEnd(8))} ${text}`)
  }

  end(summary: RunSummary): void {
    this.#stop()
    const { bold, green, red, cyan } = this.#colors
    for (const { label, text } of summaryLines(summary)) {
      const color = label === 'done' ? green : label === 'failed' ? red : cyan
      this.#print(`${bold(color(label.padEnd(8)))} ${text}`)
    }
  }

  close(): void {
    this.#stop()
  }

  #role(name: string): BoardRole {
    const state = this.#roles.get(name) ?? new BoardRole(name)
    this.#roles.set(name, state)
    return state
  }

  /** The explorer's rewards where there is one: they come first and include what is filtered out later. */
  #rewardRole(): string {
    return this.#roles.get('explorer')?.metrics['rollout/reward/mean'] === undefined ? 'trainer' : 'explorer'
  }

  #evaluated(score: EvalScore): void {
    const known = this.#evals.get(score.set)
    const first = known && known.first.step < score.step ? known.first : score
    const best = known && known.best.score >= score.score ? known.best : score
    this.#evals.set(score.set, { first, best, last: score })
    const isFirst = first.step === score.step
    const rest = isFirst ? '' : `  (first ${figure(first.score)}, best ${figure(best.score)} at step ${best.step})`
    const line = `step ${score.step}  ${score.set} ${score.metric} ${figure(score.score)}${rest}`
    this.#print(`${this.#colors.green('eval'.padEnd(8))} ${line}`)
  }

  #stepLine(state: BoardRole, figures: readonly string[], metrics: Readonly<Record<string, number>>): string {
    const { progress } = state
    const each = metrics['time/step'] ?? progress.secondsPerStep
    const left = progress.left
    const times = [
      ...(each === undefined ? [] : [`${duration(each)}/step`]),
      ...(left === undefined || left === 0 ? [] : [`${duration(left)} left`]),
    ]
    return `${this.#label(state.name)} ${[`step ${progress.text}`, ...figures, ...times].join('  ')}`
  }

  #label(role: string): string {
    return this.#colors.bold(role.padEnd(8))
  }

  #print(text: string): void {
    const line = redact(this.#words(text))
    if (this.#block) this.#block.print(line)
    else this.#stream.write(`${line}\n`)
  }

  /** Draws soon: many changes in a moment are one. */
  #change(): void {
    if (!this.#block || this.#redraw || !this.#tick) return
    this.#redraw = setTimeout(() => this.#draw(), REDRAW_MS)
    this.#redraw.unref()
  }

  #draw(): void {
    clearTimeout(this.#redraw)
    this.#redraw = undefined
    const width = Math.max(20, (this.#stream.columns ?? DEFAULT_WIDTH) - 1)
    const { dim } = this.#colors
    const lines = this.#liveLines(width).map((line) => shorten(redact(line), width))
    this.#block?.draw([dim('─'.repeat(Math.min(width, 60))), ...lines.map((line) => this.#emphasize(line))])
  }

  #liveLines(width: number): string[] {
    const now = this.#now()
    const lefts = [...this.#roles.values()].flatMap(({ progress }) => progress.left ?? [])
    const left = lefts.length === 0 ? '' : ` · about ${duration(Math.max(...lefts))} left`
    const lines = [`${this.#title} · ${duration(Math.floor((now - this.#begun) / 1000))}${left}`]
    for (const state of this.#ordered()) {
      const doing = state.phase === '' ? '' : `${state.phase} · ${duration(Math.floor((now - state.since) / 1000))}`
      const isLoop = LOOPS.includes(state.name)
      lines.push([state.name.padEnd(8), ...(isLoop ? [`step ${state.progress.text}`] : []), doing].join('  '))
      const figures = figuresOf(state.name, state.metrics)
      lines.push(...packed(figures, width - INDENT).map((line) => `${' '.repeat(INDENT)}${line}`))
    }
    const course = sparkline(this.#rewards, 40)
    if (course) lines.push(`${'reward'.padEnd(8)}  ${course} ${figure(this.#rewards.at(-1) as number)}`)
    for (const [set, { first, best, last }] of this.#evals) {
      const scores = `first ${figure(first.score)}  best ${figure(best.score)} at step ${best.step}`
      lines.push(`${'eval'.padEnd(8)}  ${set} ${last.metric} ${figure(last.score)}  ${scores}`)
    }
    return lines
  }

  /** Explorer and trainer; before them whatever prepares, until they go on. */
  #ordered(): BoardRole[] {
    const all = [...this.#roles.values()]
    const loops = LOOPS.flatMap((name) => this.#roles.get(name) ?? [])
    const begun = Math.max(...loops.map(({ phase, since }) => (phase === '' ? -Infinity : since)))
    return [...all.filter(({ name, since }) => !LOOPS.includes(name) && since > begun), ...loops]
  }

  #emphasize(line: string): string {
    const label = line.slice(0, 8)
    return label.trim() === '' ? line : `${this.#colors.bold(label)}${line.slice(8)}`
  }

  #stop(): void {
    clearTimeout(this.#redraw)
    clearInterval(this.#tick)
    this.#redraw = undefined
    this.#tick = undefined
    this.#block?.clear()
  }
}
