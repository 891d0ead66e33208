/** One record of a data set, as plain JavaScript: what `JSON.parse` gives, plus `Uint8Array` for binary columns. */
export type DataRow = Record<string, unknown>

/** Random access to the rows of a data set; memory does not grow with the size of the data. */
export interface RowSource {
  readonly length: number
  row(index: number): Promise<DataRow>
  /** All rows in order, in few big reads. */
  scan(): AsyncIterable<DataRow>
  /** Where a row comes from, for messages: `train.jsonl:17`. */
  where(index: number): Promise<string>
  close(): Promise<void>
}

/** Rows that are already in memory. */
export class ListSource implements RowSource {
  readonly #rows: readonly DataRow[]
  readonly #name: string

  constructor(rows: readonly DataRow[], name: string) {
    this.#rows = rows
    this.#name = name
  }

  get length(): number {
    return this.#rows.length
  }

  async row(index: number): Promise<DataRow> {
    // A caller may change its row; the list must not follow.
    return structuredClone(this.#rows[index])
  }

  async *scan(): AsyncIterable<DataRow> {
    yield* this.#rows
  }

  async where(index: number): Promise<string> {
    return `${this.#name}, row ${index}`
  }

  async close(): Promise<void> {}
}
