import type { Experience } from '../../experience/experience.js'
import { JsonlFile } from '../file/jsonl-file.js'
import type { ExperienceTable } from '../sql/table.js'

/** Where a queue also keeps what passes through it: for people to read, and for a restart. */
export interface Keeper {
  /** Everything kept later lies behind this. */
  readonly end: number
  /** Gives the row of each experience. */
  append(experiences: readonly Experience[]): Promise<number[]>
  load(rows: readonly number[]): Promise<Experience[]>
  /** Says that these were handed out. */
  taken(rows: readonly number[]): Promise<void>
  /** Says that these will never be handed out. */
  dropped(rows: readonly number[]): Promise<void>
  /** Removes everything behind `end` and notes how often these rows have been used; gives the number removed. */
  restore(end: number, rows: readonly number[], uses: readonly number[]): Promise<number>
  /** What is kept survives a power cut too. */
  flush(): Promise<void>
  close(): Promise<void>
}

export class JsonlKeeper implements Keeper {
  readonly file: JsonlFile

  constructor(file: JsonlFile) {
    this.file = file
  }

  static async open(path: string): Promise<JsonlKeeper> {
    return new JsonlKeeper(await JsonlFile.open(path))
  }

  get end(): number {
    return this.file.end
  }

  append(experiences: readonly Experience[]): Promise<number[]> {
    return this.file.append(experiences)
  }

  load(rows: readonly number[]): Promise<Experience[]> {
    return this.file.read(rows)
  }

  /** A line that was written stays as it is. */
  async taken(): Promise<void> {}
  async dropped(): Promise<void> {}

  restore(end: number): Promise<number> {
    return this.file.truncate(end)
  }

  flush(): Promise<void> {
    return this.file.flush()
  }

  close(): Promise<void> {
    return this.file.close()
  }
}

export class SqlKeeper implements Keeper {
  readonly #table: ExperienceTable
  #end: number

  private constructor(table: ExperienceTable, end: number) {
    this.#table = table
    this.#end = end
  }

  static async open(table: ExperienceTable): Promise<SqlKeeper> {
    return new SqlKeeper(table, await table.lastId())
  }

  get end(): number {
    return this.#end
  }

  async append(experiences: readonly Experience[]): Promise<number[]> {
    const rows = await this.#table.insert(experiences)
    this.#end = rows.at(-1) ?? this.#end
    return rows
  }

  load(rows: readonly number[]): Promise<Experience[]> {
    return this.#table.load(rows)
  }

  taken(rows: readonly number[]): Promise<void> {
    return this.#table.setAside(rows, 1)
  }

  dropped(rows: readonly number[]): Promise<void> {
    return this.#table.setAside(rows, 0)
  }

  async restore(end: number, rows: readonly number[], uses: readonly number[]): Promise<number> {
    const ready = rows.map((id, i) => ({ id, consumed: uses[i] }))
    const removed = await this.#table.restore({ lastId: end, ready })
    this.#end = end
    return removed
  }

  flush(): Promise<void> {
    return this.#table.db.flush()
  }

  close(): Promise<void> {
    return this.#table.close()
  }
}
