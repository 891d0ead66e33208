import { join } from 'node:path'
import type { Monitor } from './monitor.js'
import { fileName } from './names.js'
import { StepLines } from './step-lines.js'

/** `<job>/monitor/<role>_<table>.jsonl`: a line for each time the table was given, with the step and the rows. */
export class TableFiles implements Pick<Monitor, 'table' | 'rewind' | 'close'> {
  readonly #dir: string
  readonly #role: string
  readonly #known: () => string[]
  readonly #files = new Map<string, StepLines>()

  /** `known`: names of the tables that an earlier process has written. */
  constructor(dir: string, role: string, known: () => string[]) {
    this.#dir = dir
    this.#role = role
    this.#known = known
  }

  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void {
    this.#file(fileName(name)).append(JSON.stringify({ step, rows }))
  }

  rewind(step: number): void {
    for (const name of this.#known()) this.#file(name).rewind(step)
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) file.close()
  }

  #file(name: string): StepLines {
    const file = this.#files.get(name) ?? new StepLines(join(this.#dir, `${this.#role}_${name}.jsonl`))
    this.#files.set(name, file)
    return file
  }
}
