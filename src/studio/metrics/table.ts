import { stat } from 'node:fs/promises'
import { numberIn } from '../../experience/fields.js'
import type { MetricsRow } from '../../monitor/metrics-file.js'
import { eachLine, withFile } from '../run/lines.js'

/** The numbers of one name: rows of the table that have one, in order, and the numbers. */
export interface Column {
  readonly rows: number[]
  readonly values: number[]
}

/** What a look at the file has brought. */
export interface MetricsNews {
  /** Everything that was known is void: a resumed run has written the file anew. */
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
  #reading: Promise<MetricsNews> | undefined

  constructor(role: string, path: string) {
    this.role = role
    this.path = path
  }

  /** Reads what is new. Those who ask at once get the same answer. */
  poll(): Promise<MetricsNews> {
    this.#reading ??= this.#poll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #poll(): Promise<MetricsNews> {
    const now = await stat(this.path).catch(() => undefined)
    if (!now || (now.ino === this.#ino && now.size === this.#size && now.mtimeMs === this.#mtime)) return NOTHING
    const restarted = this.#ino !== -1 && (now.ino !== this.#ino || now.size < this.#last)
    if (restarted) this.#clear()
    const rows = new Map<number, MetricsRow>()
    let isWhole = true
    await withFile(this.path, async (file) => {
      await eachLine(file, this.#last, now.size, ({ at, text }) => {
        this.#last = at
        const row = rowOf(text)
        if (row) {
          this.#add(row)
          rows.set(row.step, row)
        } else isWhole = false
      })
    })
    this.#ino = now.ino
    this.#size = now.size
    // a line that was read while it was written is read again
    this.#mtime = isWhole ? now.mtimeMs : -1
    return { restarted, rows: [...rows.values()] }
  }

  #clear(): void {
    this.steps.length = 0
    this.times.length = 0
    this.columns.clear()
    this.#rowOf.clear()
    this.#last = 0
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

const NOTHING: MetricsNews = { restarted: false, rows: [] }

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
