import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isJsonObject } from '../../base/file/json-file.js'
import { makeFolderSync } from '../../base/file/make-folder.js'
import type { MetricsRow } from '../metrics-file.js'

interface State {
  /** Id of the run on the service. */
  run?: string
  /** Last step that has arrived, and what of it. */
  step?: number
  names?: string[]
  /** Names of numbers that were logged for an earlier step than the last one and have not arrived. */
  late?: Record<string, string[]>
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

  /** Expects numbers of an earlier step than the last one. */
  expectLate(step: number, names: readonly string[]): void {
    const { late = {} } = this.#state
    this.#state = { ...this.#state, late: { ...late, [step]: [...(late[step] ?? []), ...names] } }
    this.#write()
  }

  /** What of the row has not arrived. */
  rest(row: MetricsRow): MetricsRow | undefined {
    if (row.step > this.step) return row
    if (row.step < this.step) {
      const expected = this.#state.late?.[row.step] ?? []
      return part(row, (name) => expected.includes(name))
    }
    const known = this.#state.names && new Set(this.#state.names)
    return known && part(row, (name) => !known.has(name))
  }

  add(rows: readonly MetricsRow[]): void {
    for (const { step, metrics } of rows) {
      if (this.#state.late) delete this.#state.late[step]
      if (step < this.step) continue
      const names = step === this.step ? (this.#state.names ?? []) : []
      this.#state = { ...this.#state, step, names: [...new Set([...names, ...Object.keys(metrics)])] }
    }
    this.#write()
  }

  #write(): void {
    makeFolderSync(dirname(this.#file))
    const beside = `${this.#file}.${process.pid}.tmp`
    writeFileSync(beside, `${JSON.stringify(this.#state)}\n`)
    renameSync(beside, this.#file)
  }
}

function part(row: MetricsRow, isWanted: (name: string) => boolean): MetricsRow | undefined {
  const left = Object.entries(row.metrics).filter(([name]) => isWanted(name))
  return left.length === 0 ? undefined : { ...row, metrics: Object.fromEntries(left) }
}

function read(file: string): State {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isJsonObject(value) ? (value as State) : {}
  } catch {
    return {}
  }
}
