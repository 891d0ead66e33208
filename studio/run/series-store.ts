import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { MetricsRow, Series, SeriesAnswer } from '../../src/studio/api.js'
import { onMetrics } from '../base/live.js'
import { get, runPath } from '../base/server.js'
import { withRows } from './series-rows.js'

const POINTS = 2000
const MOST_NAMES = 100

/** The series of one run that charts have asked for: asked together, kept, and continued as the run goes on. */
export class SeriesStore {
  readonly #series = new Map<string, Signal<Series | undefined>>()
  readonly #wanted = new Set<string>()
  readonly #rows: { role: string; rows: readonly MetricsRow[] }[] = []
  readonly #leave: () => void

  constructor(readonly run: string) {
    this.#leave = onMetrics({
      rows: (role, rows) => {
        if (this.#rows.push({ role, rows }) === 1) requestAnimationFrame(() => this.#add())
      },
      rewind: () => this.#askAgain(),
    })
  }

  close(): void {
    this.#leave()
  }

  of(name: string): ReadonlySignal<Series | undefined> {
    let series = this.#series.get(name)
    if (series === undefined) {
      series = signal(undefined)
      this.#series.set(name, series)
      this.#want(name)
    }
    return series
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

  /** What came since the last frame, at once. */
  #add(): void {
    const parts = this.#rows.splice(0)
    batch(() => {
      for (const [name, held] of this.#series) {
        const series = held.peek()
        if (series === undefined) continue
        const rows = parts.filter(({ role }) => role === series.role).flatMap((part) => part.rows)
        held.value = withRows(series, rows)
        // twice as long as was asked for: the server puts steps together again
        if (held.value.step.length > 2 * POINTS) this.#want(name)
      }
    })
  }

  #askAgain(): void {
    for (const name of this.#series.keys()) this.#want(name)
  }
}
