import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { MetricsRow, Series, SeriesAnswer } from '../../src/studio/api.js'
import { onMetrics } from '../base/live.js'
import { get, runPath } from '../base/server.js'
import { withRows } from './series-rows.js'

const POINTS = 2000
const MOST_NAMES = 100
/** Charts that are drawn in one frame: more would take longer than it has. */
const AT_ONCE = 6
/** Between two drawings of a chart: nobody sees more, and every frame costs something whatever is in it. */
const CALM_MS = 400

/** The series of one run that charts have asked for: asked together, kept, and continued as the run goes on. */
export class SeriesStore {
  readonly #series = new Map<string, Signal<Series | undefined>>()
  readonly #wanted = new Set<string>()
  /** In a chart that is there now. The others are old as soon as something comes. */
  readonly #watched = new Set<string>()
  readonly #old = new Set<string>()
  /** What came since a series was drawn. */
  readonly #news = new Map<string, MetricsRow[]>()
  #drawnAt = Number.NEGATIVE_INFINITY
  readonly #leave: () => void

  constructor(readonly run: string) {
    this.#leave = onMetrics({
      rows: (role, rows) => this.#take(role, rows),
      rewind: () => this.askAgain(),
    })
  }

  close(): void {
    this.#leave()
  }

  of(name: string): ReadonlySignal<Series | undefined> {
    let series = this.#series.get(name)
    if (series === undefined) {
      series = signal<Series | undefined>(undefined, {
        watched: () => {
          this.#watched.add(name)
          if (this.#old.delete(name)) this.#want(name)
        },
        unwatched: () => this.#watched.delete(name),
      })
      this.#series.set(name, series)
      this.#want(name)
    }
    return series
  }

  /** Whatever was asked for may be another now. */
  askAgain(): void {
    for (const name of this.#series.keys()) {
      if (this.#watched.has(name)) this.#want(name)
      else this.#old.add(name)
    }
  }

  #want(name: string): void {
    // charts that appear together are one question
    if (this.#wanted.size === 0) setTimeout(() => void this.#ask(), 10)
    this.#wanted.add(name)
  }

  async #ask(): Promise<void> {
    const names = [...this.#wanted]
    this.#wanted.clear()
    for (let at = 0; at < names.length; at += MOST_NAMES) {
      const name = names.slice(at, at + MOST_NAMES)
      const answer = await get<SeriesAnswer>(runPath(this.run, 'series'), { name, points: POINTS }).catch(
        () => undefined,
      )
      batch(() => {
        for (const series of answer?.series ?? []) this.#series.get(series.name)!.value = series
      })
    }
  }

  #take(role: string, rows: readonly MetricsRow[]): void {
    const isQuiet = this.#news.size === 0
    for (const [name, held] of this.#series) {
      if (held.peek()?.role !== role) continue
      const own = rows.filter(({ metrics }) => metrics[name] !== undefined)
      if (own.length === 0) continue
      if (this.#watched.has(name)) this.#news.set(name, [...(this.#news.get(name) ?? []), ...own])
      else this.#old.add(name)
    }
    if (isQuiet && this.#news.size > 0) this.#plan()
  }

  #plan(): void {
    const wait = Math.max(0, this.#drawnAt + CALM_MS - performance.now())
    setTimeout(() => requestAnimationFrame(() => this.#draw()), wait)
  }

  /** Some series in a frame, in turn, each with all that came since it was drawn: however much comes, the page stays smooth. */
  #draw(): void {
    this.#drawnAt = performance.now()
    batch(() => {
      for (const [name, rows] of [...this.#news].slice(0, AT_ONCE)) {
        this.#news.delete(name)
        const held = this.#series.get(name)!
        held.value = withRows(held.peek()!, rows)
        // twice as long as was asked for: the server puts steps together again
        if (held.value.step.length > 2 * POINTS) this.#want(name)
      }
    })
    if (this.#news.size > 0) requestAnimationFrame(() => this.#draw())
  }
}
