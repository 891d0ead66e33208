import { stat } from 'node:fs/promises'
import { numberIn } from '../../experience/fields.js'
import type { MetricsRow } from '../../monitor/metrics-file.js'
import { eachLine, withFile } from '../run/lines.js'

/** The numbers of one name: rows of the table that have one, in order, and the numbers. */
export interface Column {
  readonly rows: number[]
  readonly values: number[]
}

/** What has come since somebody looked. */
export interface MetricsNews {
  /** Everything must be read again: a resumed run has written the file anew, or too much has come. */
  readonly restarted: boolean
  readonly rows: readonly MetricsRow[]
}

/** A file of numbers as columns, which grows with the file. A run of 5,000 steps with 300 numbers takes some 25 MB. */
export class MetricsTable {
  readonly role: string
  readonly path: string
  readonly steps: number[] = []
  readonly times: number[] = []
  readonly columns = new Map<string, Column>()
  readonly #rowOf = new Map<number, number>()
  #ino = -1
  #mtime = -1
  #size = 0
  /** Where the last line begins: it may still get more numbers. */
  #last = 0
  #lastText = ''
  #reading: Promise<void> | undefined
  /** Counts what has come: readers remember how much of it they have seen. */
  #changes = 0
  /** What readers have seen before this is void. */
  #restartedAt = 0
  #recent: { readonly change: number; readonly row: MetricsRow }[] = []

  constructor(role: string, path: string) {
    this.role = role
    this.path = path
  }

  /** Reads what is new. Those who ask at once get the same answer. */
  poll(): Promise<void> {
    this.#reading ??= this.#poll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  get changes(): number {
    return this.#changes
  }

  /** What has come since a reader looked, who then noted `changes`. */
  since(seen: number): MetricsNews {
    const oldest = this.#recent[0]?.change ?? this.#changes + 1
    if (seen < this.#restartedAt || (seen < this.#changes && seen + 1 < oldest)) return { restarted: true, rows: [] }
    const rows = new Map<number, MetricsRow>()
    for (const { change, row } of this.#recent) if (change > seen) rows.set(row.step, row)
    return { restarted: false, rows: [...rows.values()] }
  }

  async #poll(): Promise<void> {
    const now = await stat(this.path).catch(() => undefined)
    if (!now || (now.ino === this.#ino && now.size === this.#size && now.mtimeMs === this.#mtime)) return
    const restarted = this.#ino !== -1 && (now.ino !== this.#ino || now.size < this.#last)
    if (restarted) this.#clear()
    let isWhole = true
    await withFile(this.path, async (file) => {
      await eachLine(file, this.#last, now.size, ({ at, text }) => {
        if (at === this.#last && text === this.#lastText) return
        this.#last = at
        this.#lastText = text
        const row = rowOf(text)
        if (row) {
          this.#add(row)
          this.#recent.push({ change: ++this.#changes, row })
          if (this.#recent.length > 2 * RECENT) this.#recent = this.#recent.slice(-RECENT)
        } else isWhole = false
      })
    })
    this.#ino = now.ino
    this.#size = now.size
    // a line that was read while it was written is read again
    this.#mtime = isWhole ? now.mtimeMs : -1
  }

  #clear(): void {
    this.steps.length = 0
    this.times.length = 0
    this.columns.clear()
    this.#rowOf.clear()
    this.#last = 0
    this.#lastText = ''
    this.#recent = []
    this.#restartedAt = ++this.#changes
  }

  #add({ step, time, metrics }: MetricsRow): void {
    const known = this.#rowOf.get(step)
    const row = known ?? this.steps.length
    if (known === undefined) {
      this.#rowOf.set(step, row)
      this.steps.push(step)
      this.times.push(time)
    }
    for (const name in metrics) {
      const column = this.columns.get(name)
      if (!column) this.columns.set(name, { rows: [row], values: [metrics[name]] })
      else if ((column.rows.at(-1) as number) < row) {
        column.rows.push(row)
        column.values.push(metrics[name])
      } else {
        const at = column.rows.lastIndexOf(row)
        if (at >= 0) column.values[at] = metrics[name]
        else {
          const next = column.rows.findIndex((one) => one > row)
          column.rows.splice(next, 0, row)
          column.values.splice(next, 0, metrics[name])
        }
      }
    }
  }
}

/** Rows that are kept for readers; who is further behind reads everything again. */
const RECENT = 300

function rowOf(line: string): MetricsRow | undefined {
  try {
    const { step, time, metrics } = JSON.parse(line) as Partial<MetricsRow>
    if (typeof step !== 'number' || typeof metrics !== 'object' || metrics === null) return undefined
    const numbers: Record<string, number> = {}
    for (const name in metrics) {
      const number = numberIn(metrics[name])
      if (number !== undefined) numbers[name] = number
    }
    return { step, time: typeof time === 'number' ? time : 0, metrics: numbers }
  } catch {
    return undefined
  }
}
