import { chunkOf } from './chunk-cache.js'
import type { DataRow, RowSource } from './row-source.js'

/** Several files one after the other. */
export class ConcatSource implements RowSource {
  readonly length: number
  readonly #parts: readonly RowSource[]
  readonly #firstRows: Float64Array

  constructor(parts: readonly RowSource[]) {
    // An empty part would share its first row with the next one.
    this.#parts = parts.filter((part) => part.length > 0)
    this.#firstRows = new Float64Array(this.#parts.length)
    let rows = 0
    for (const [i, part] of this.#parts.entries()) {
      this.#firstRows[i] = rows
      rows += part.length
    }
    this.length = rows
  }

  row(index: number): Promise<DataRow> {
    const part = chunkOf(this.#firstRows, index)
    return this.#parts[part].row(index - this.#firstRows[part])
  }

  async *scan(): AsyncIterable<DataRow> {
    for (const part of this.#parts) yield* part.scan()
  }

  where(index: number): Promise<string> {
    const part = chunkOf(this.#firstRows, index)
    return this.#parts[part].where(index - this.#firstRows[part])
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()))
  }
}

/** A run of consecutive rows: `train[10:20]`. */
export class SliceSource implements RowSource {
  readonly length: number
  readonly #source: RowSource
  readonly #start: number

  constructor(source: RowSource, start: number, end: number) {
    this.#source = source
    this.#start = start
    this.length = Math.max(0, end - start)
  }

  row(index: number): Promise<DataRow> {
    return this.#source.row(this.#start + index)
  }

  async *scan(): AsyncIterable<DataRow> {
    for (let i = 0; i < this.length; i++) yield await this.row(i)
  }

  where(index: number): Promise<string> {
    return this.#source.where(this.#start + index)
  }

  close(): Promise<void> {
    return this.#source.close()
  }
}
