import { messageOf, TrinityError } from '../../base/error.js'
import type { Copy } from './compressed.js'
import { parseJson } from './exact-json.js'
import { OffsetFile, type RecordScanner } from './offset-file.js'
import type { DataRow, RowSource } from './row-source.js'
import { recordText } from './utf8.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Records are the objects of the list that the file is. */
class ListScanner implements RecordScanner {
  #depth = 0
  #inText = false
  #isEscaped = false
  #isClosed = false

  scan(chunk: Buffer, at: number, found: (start: number) => void): void {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (this.#inText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) this.#inText = false
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.#depth--
        this.#isClosed = this.#depth === 0
      } else if (byte > 32 && byte !== COMMA) {
        // What is no object begins a record too: whoever reads it says so.
        if (this.#depth === 1) found(at + i)
        if (byte === QUOTE) this.#inText = true
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth++
      }
    }
  }

  finish(file: string): void {
    if (this.#isClosed && !this.#inText) return
    throw new TrinityError('data/malformed', 'not valid JSON: the list is not closed', {
      path: file,
      hint: 'copy or download the file again',
    })
  }
}

/** A JSON list of objects of any size, read piece by piece. */
export class JsonListSource implements RowSource {
  readonly #file: OffsetFile
  readonly #copy?: Copy

  private constructor(file: OffsetFile, copy?: Copy) {
    this.#file = file
    this.#copy = copy
  }

  /** `copy`: what is read instead of a compressed file. */
  static async open(path: string, copy?: Copy): Promise<JsonListSource> {
    return new JsonListSource(await OffsetFile.open(path, new ListScanner(), copy?.path), copy)
  }

  get length(): number {
    return this.#file.length
  }

  async row(index: number): Promise<DataRow> {
    return this.#parse(await this.#file.record(index), index)
  }

  async *scan(): AsyncIterable<DataRow> {
    let index = 0
    for await (const record of this.#file.records()) yield await this.#parse(record, index++)
  }

  async where(index: number): Promise<string> {
    return `${this.#file.path}:${await this.#file.line(index)}`
  }

  async close(): Promise<void> {
    await this.#file.close()
    await this.#copy?.release()
  }

  async #parse(record: Buffer, index: number): Promise<DataRow> {
    const text = await recordText(record, () => this.where(index))
    try {
      // What follows up to the next record is a comma, or the end of the list.
      return parseJson(text.slice(0, text.lastIndexOf('}') + 1)) as DataRow
    } catch (error) {
      throw new TrinityError('data/malformed', `not a list of objects: ${messageOf(error)}`, {
        path: await this.where(index),
        cause: error,
      })
    }
  }
}
