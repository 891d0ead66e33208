import { numberIn, numberOut } from '../experience/fields.js'
import type { Monitor } from './monitor.js'
import { isObject, StepLines } from './step-lines.js'

/** The numbers of one step. `time`: seconds since 1970, of the first of them. */
export interface MetricsRow {
  readonly step: number
  readonly time: number
  readonly metrics: Readonly<Record<string, number>>
}

/**
 * `<job>/monitor/<role>.jsonl`: one object for each step. Numbers of a step that arrive later are added to its line
 * without touching what is there, so that a process killed at any moment loses at most the ones it was writing.
 */
export class MetricsFile implements Pick<Monitor, 'log' | 'rewind' | 'close'> {
  readonly #lines: StepLines
  readonly #now: () => number
  /** The last line, as far as this process has written it. */
  #last: { step: number; names: Set<string> } | undefined

  constructor(path: string, now: () => number = Date.now) {
    this.#lines = new StepLines(path, mend)
    this.#now = now
  }

  get path(): string {
    return this.#lines.path
  }

  log(metrics: Readonly<Record<string, number>>, step: number): void {
    const entries = Object.entries(metrics)
    const last = this.#last ?? this.#readLast()
    if (last?.step !== step) {
      this.#lines.append(lineOf({ step, time: this.#now() / 1000, metrics }))
      this.#last = { step, names: new Set(Object.keys(metrics)) }
    } else if (entries.length > 0 && entries.every(([name]) => !last.names.has(name))) {
      const added = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(numberOut(value))}`)
      this.#lines.writeEnd(this.#lines.size - END.length, `${last.names.size > 0 ? ',' : ''}${added.join(',')}${END}`)
      for (const [name] of entries) last.names.add(name)
    } else if (entries.length > 0) this.#replace(metrics, step)
  }

  /** Everything on record, oldest first, one row for each step. */
  rows(): MetricsRow[] {
    return parseMetrics(this.#lines.lines())
  }

  rewind(step: number): void {
    const lines = this.#lines.lines()
    const kept = parseMetrics(lines).filter((row) => row.step <= step)
    if (kept.length < lines.length) this.#lines.rewrite(kept.map(lineOf))
    this.#last = undefined
  }

  async close(): Promise<void> {
    this.#lines.close()
    this.#last = undefined
  }

  /** The first line that this process adds may belong to a step that an earlier one began. */
  #readLast(): { step: number; names: Set<string> } | undefined {
    const line = this.#lines.lines().at(-1)
    const row = line === undefined ? undefined : parseRow(line)
    // only a line of ours ends in a way that can be gone on with
    if (!row || line !== lineOf(row)) return undefined
    this.#last = { step: row.step, names: new Set(Object.keys(row.metrics)) }
    return this.#last
  }

  /** A resumed run measures again what is on record: the new value counts. */
  #replace(metrics: Readonly<Record<string, number>>, step: number): void {
    const rows = this.rows().map((row) =>
      row.step === step ? { ...row, metrics: { ...row.metrics, ...metrics } } : row,
    )
    this.#lines.rewrite(rows.map(lineOf))
    this.#last = undefined
  }
}

/** Rows of lines; several of the same step become one, the later value counting. */
export function parseMetrics(lines: readonly string[]): MetricsRow[] {
  const rows = new Map<number, MetricsRow>()
  for (const line of lines) {
    const row = parseRow(line)
    if (!row) continue
    const before = rows.get(row.step)
    rows.set(row.step, before ? { ...before, metrics: { ...before.metrics, ...row.metrics } } : row)
  }
  return [...rows.values()].sort((a, b) => a.step - b.step)
}

const END = '}}\n'

function lineOf({ step, time, metrics }: MetricsRow): string {
  const values = Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, numberOut(value)]))
  return JSON.stringify({ step, time, metrics: values })
}

function parseRow(line: string): MetricsRow | undefined {
  let value: { step?: unknown; time?: unknown; metrics?: unknown }
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  const { step, time, metrics } = value ?? {}
  if (typeof step !== 'number' || typeof metrics !== 'object' || metrics === null) return undefined
  const numbers = Object.entries(metrics).flatMap(([name, raw]) => {
    const number = numberIn(raw)
    return number === undefined ? [] : [[name, number] as const]
  })
  return { step, time: typeof time === 'number' ? time : 0, metrics: Object.fromEntries(numbers) }
}

/** Of a line that was cut, everything before its last comma: the number behind it may be half of one. */
function mend(cut: string): string | undefined {
  for (let end = cut.lastIndexOf(','); end > 0; end = cut.lastIndexOf(',', end - 1)) {
    const line = `${cut.slice(0, end)}${END.trimEnd()}`
    if (isObject(line) && parseRow(line)) return line
  }
  return undefined
}
