import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { MetricsRow } from '../metrics-file.js'

interface State {
  /** Id of the run on the service. */
  run?: string
  /** Last step that has arrived, and what of it. */
  step?: number
  names?: string[]
}

/** What a service has already got, on disk: a resumed run goes on with the same run there and sends nothing twice. */
export class Delivered {
  readonly #file: string
  #state: State

  constructor(file: string) {
    this.#file = file
    this.#state = read(file)
  }

  get run(): string | undefined {
    return this.#state.run
  }

  get step(): number {
    return this.#state.step ?? Number.NEGATIVE_INFINITY
  }

  /** `lastStep`: what the service itself says, where it can. */
  begin(run: string, lastStep?: number): void {
    if (run !== this.#state.run) this.#state = { run }
    if (lastStep !== undefined && lastStep > this.step) this.#state = { run, step: lastStep }
    this.#write()
  }

  /** What of the row has not arrived. */
  rest(row: MetricsRow): MetricsRow | undefined {
    if (row.step > this.step) return row
    if (row.step < this.step || !this.#state.names) return undefined
    const known = new Set(this.#state.names)
    const left = Object.entries(row.metrics).filter(([name]) => !known.has(name))
    return left.length === 0 ? undefined : { ...row, metrics: Object.fromEntries(left) }
  }

  add(rows: readonly MetricsRow[]): void {
    for (const { step, metrics } of rows) {
      const names = step === this.step ? (this.#state.names ?? []) : []
      this.#state = { ...this.#state, step, names: [...new Set([...names, ...Object.keys(metrics)])] }
    }
    this.#write()
  }

  #write(): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    const beside = `${this.#file}.${process.pid}.tmp`
    writeFileSync(beside, `${JSON.stringify(this.#state)}\n`)
    renameSync(beside, this.#file)
  }
}

function read(file: string): State {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State
  } catch {
    return {}
  }
}
