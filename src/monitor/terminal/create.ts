import pc from 'picocolors'
import { redact } from '../../base/secret/index.js'
import { visible } from '../../base/terminal/visible.js'
import { widthOf } from '../../base/terminal/width.js'
import { wrap } from '../../base/terminal/wrap.js'
import type { Experience } from '../../experience/index.js'
import type { RunSummary, RunView } from '../view.js'
import { Advice } from './advice.js'
import { Board, type BoardRole, type EvalScore, figuresOf, LOOPS, scoresOf } from './board.js'
import { examplesOf } from './example.js'
import { LiveBlock, SafeStream, type ViewStream } from './live.js'
import { duration, figure, percent } from './number.js'
import { panelLines } from './panel.js'
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

const REDRAW_MS = 100
const TICK_MS = 1000
/** How often a phase of something else than explorer and trainer is told in plain lines. */
const PHASE_MS = 5000
/** How often plain lines show answers, and where the time goes: a live view does all the time. */
const EXAMPLE_MS = 60_000
const DEFAULT_WIDTH = 100
const DEFAULT_ROWS = 24
/** Width of the labels of lines that stay. */
const INDENT = 9

class View implements RunView {
  readonly #stream: SafeStream
  readonly #block: LiveBlock | undefined
  readonly #colors: ReturnType<typeof pc.createColors>
  readonly #now: () => number
  readonly #title: string
  readonly #words: (text: string) => string
  readonly #begun: number
  readonly #board = new Board()
  readonly #advice = new Advice()
  readonly #notes = new Set<string>()
  #exampled = Number.NEGATIVE_INFINITY
  #redraw: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #unlisten: (() => void) | undefined

  constructor(stream: ViewStream, isLive: boolean, isColored: boolean, options: ViewOptions) {
    const { now = Date.now, title = 'trinity', words = (text) => text } = options
    this.#stream = new SafeStream(stream)
    this.#colors = pc.createColors(isColored)
    this.#now = now
    this.#title = title
    this.#words = words
    this.#begun = now()
    if (isLive) {
      const block = new LiveBlock(this.#stream)
      this.#block = block
      this.#tick = setInterval(() => this.#draw(), TICK_MS)
      this.#tick.unref()
      this.#unlisten = this.#stream.onResize(() => {
        block.resized()
        this.#draw()
      })
    }
  }

  expect(role: string, steps: number): void {
    this.#board.role(role).progress.total = steps
    this.#change()
  }

  phase(role: string, what: string): void {
    const state = this.#board.role(role)
    if (state.phase === what) return
    const now = this.#now()
    state.spent.begin(what, now)
    const isOther = !LOOPS.includes(role)
    if (!this.#block && isOther && (state.phase === '' || now - state.since >= PHASE_MS)) {
      this.#print(role, what, this.#colors.bold)
      state.since = now
    }
    state.phase = what
    if (this.#block) state.since = now
    this.#change()
  }

  metrics(role: string, step: number, metrics: Readonly<Record<string, number>>): void {
    const state = this.#board.role(role)
    const scores = scoresOf(step, metrics)
    for (const score of scores) this.#evaluated(score)
    const figures = figuresOf(role, metrics)
    if (scores.length === 0 || figures.length > 0) state.progress.reach(step, this.#now())
    this.#board.take(role, step, metrics)
    if (!this.#block && figures.length > 0) {
      this.#print(role, this.#stepLine(state, figures, metrics), this.#colors.bold)
    }
    for (const text of this.#advice.take(metrics)) this.#print('hint', text, this.#colors.cyan)
    this.#change()
  }

  examples(role: string, step: number, experiences: readonly Experience[]): void {
    const now = this.#now()
    if (!this.#block && now - this.#exampled < EXAMPLE_MS) return
    this.#board.show(role, examplesOf(step, experiences))
    if (!this.#block && this.#board.exampleRole === role) this.#plainExamples(now)
    this.#change()
  }

  note(text: string): void {
    if (this.#notes.has(text)) return
    this.#notes.add(text)
    this.#print('note', text, this.#colors.yellow)
  }

  end(summary: RunSummary): void {
    this.#stop()
    const { bold, green, red, cyan } = this.#colors
    for (const { label, text } of summaryLines(summary)) {
      const color = label === 'done' ? green : label === 'failed' ? red : cyan
      // whole, so that commands and paths can be copied
      this.#write(`${bold(color(label.padEnd(INDENT - 1)))} ${this.#fitted(this.#shown(text))}`)
    }
  }

  /** What a command does stands below it where both do not fit into a line. */
  #fitted(text: string): string {
    if (INDENT + widthOf(text) < (this.#stream.columns ?? Number.POSITIVE_INFINITY)) return text
    return text.replace(/ {3}(?! )/, `\n${' '.repeat(INDENT + 2)}`)
  }

  close(): void {
    this.#stop()
  }

  #evaluated(score: EvalScore): void {
    const { first, best } = this.#board.score(score)
    const isFirst = first.step === score.step
    const rest = isFirst ? '' : `  (first ${figure(first.score)}, best ${figure(best.score)} at step ${best.step})`
    const lost = score.unanswered === '' ? '' : `  ${score.unanswered}: counted as 0`
    const line = `step ${score.step}  ${score.set} ${score.metric} ${figure(score.score)}${rest}${lost}`
    this.#print('eval', line, this.#colors.green)
  }

  #stepLine(state: BoardRole, figures: readonly string[], metrics: Readonly<Record<string, number>>): string {
    const { progress } = state
    const each = metrics['time/step'] ?? progress.secondsPerStep
    const left = progress.left
    const times = [
      ...(each === undefined ? [] : [`${duration(each)}/step`]),
      ...(left === undefined || left === 0 ? [] : [`${duration(left)} left`]),
    ]
    return [`step ${progress.text}`, ...figures, ...times].join('  ')
  }

  /** Now and then, what a live view shows all the time. */
  #plainExamples(now: number): void {
    this.#exampled = now
    const { dim } = this.#colors
    for (const { label, step, reward, question, answer } of this.#board.examples) {
      this.#print(label, `step ${step}  reward ${reward}  ${question} → ${answer}`, dim)
    }
    for (const { name, spent } of this.#board.ordered) {
      const shares = LOOPS.includes(name) ? spent.shares(now) : []
      const texts = shares.map(({ kind, share }) => `${kind} ${percent(share)}`)
      if (texts.length > 0) this.#print('time', `${name}: ${texts.join(', ')}`, dim)
    }
  }

  /** A line that stays; on a terminal in several, broken at words. */
  #print(label: string, text: string, paint: (text: string) => string): void {
    const line = this.#shown(text)
    const lines = this.#block ? wrap(line, Math.max(20, this.#width - INDENT)) : [line]
    const rest = lines.slice(1).map((one) => `\n${' '.repeat(INDENT)}${one}`)
    this.#write(`${paint(label.padEnd(INDENT - 1))} ${lines[0]}${rest.join('')}`)
  }

  #shown(text: string): string {
    return redact(this.#words(visible(text)))
  }

  #write(text: string): void {
    if (this.#block) this.#block.print(text)
    else this.#stream.write(`${text}\n`)
  }

  /** One less than there are: a full line would break by itself. */
  get #width(): number {
    return Math.max(20, (this.#stream.columns || DEFAULT_WIDTH) - 1)
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
    const place = {
      width: this.#width,
      rows: this.#stream.rows || DEFAULT_ROWS,
      colors: this.#colors,
      now: this.#now(),
    }
    this.#block?.draw(panelLines(this.#board, this.#title, this.#begun, place))
  }

  #stop(): void {
    clearTimeout(this.#redraw)
    clearInterval(this.#tick)
    this.#redraw = undefined
    this.#tick = undefined
    this.#unlisten?.()
    this.#unlisten = undefined
    this.#block?.clear()
  }
}
