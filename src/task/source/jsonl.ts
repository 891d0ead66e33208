import { messageOf, TrinityError } from '../../base/error.js'
import type { Copy } from './compressed.js'
import { parseJson } from './exact-json.js'
import { OffsetFile, type RecordScanner } from './offset-file.js'
import type { DataRow, RowSource } from './row-source.js'
import { recordText } from './utf8.js'

/** Records are the lines that hold more than white space. */
class LineScanner implements RecordScanner {
  /** Start of the current line; −1 once the record on it has been reported. */
  #line = 0
  #begun = false

  scan(chunk: Buffer, at: number, found: (start: number) => void): void {
    if (!this.#begun) {
      this.#begun = true
      this.#line = at
    }
    let position = 0
    while (position < chunk.length) {
      if (this.#line >= 0) {
        let i = position
        while (i < chunk.length && chunk[i] <= 32 && chunk[i] !== 10) i++
        if (i === chunk.length) return
        if (chunk[i] !== 10) found(this.#line)
        this.#line = chunk[i] === 10 ? this.#line : -1
        position = i
      }
      const newline = chunk.indexOf(10, position)
      if (newline < 0) return
      position = newline + 1
      this.#line = at + position
    }
  }
}

/** One JSON object per line. */
export class JsonlSource implements RowSource {
  readonly #file: OffsetFile
  readonly #copy?: Copy

  private constructor(file: OffsetFile, copy?: Copy) {
    this.#file = file
    this.#copy = copy
  }

  /** `copy`: what is read instead of a compressed file. */
  static async open(path: string, copy?: Copy): Promise<JsonlSource> {
    return new JsonlSource(await OffsetFile.open(path, new LineScanner(), copy?.path), copy)
  }

  get length(): number {
    return this.#file.length
  }

  async row(index: number): Promise<DataRow> {
    return this.#parse(await this.#file.record(index), index)
  }

  async *scan(): AsyncIterable<DataRow> {
    let index = 0
    for await (const line of this.#file.records()) yield await this.#parse(line, index++)
  }

  async where(index: number): Promise<string> {
    return `${this.#file.path}:${await this.#file.line(index)}`
  }

  async close(): Promise<void> {
    await this.#file.close()
    await this.#copy?.release()
  }

  async #parse(line: Buffer, index: number): Promise<DataRow> {
    const text = await recordText(line, () => this.where(index))
    let value: unknown
    try {
      value = parseJson(text)
    } catch (error) {
      throw new TrinityError('data/malformed', `not valid JSON: ${messageOf(error)}`, {
        path: await this.where(index),
        cause: error,
      })
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw new TrinityError('data/malformed', 'each line of a JSON-lines file must be an object', {
        path: await this.where(index),
        hint: `this line is ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`,
      })
    }
    return value as DataRow
  }
}
