import { open } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import type { Copy } from './compressed.js'
import { OffsetFile, type RecordScanner } from './offset-file.js'
import type { DataRow, RowSource } from './row-source.js'
import { recordText } from './utf8.js'

const QUOTE = 34
const NEWLINE = 10

/** Records end at a line break outside quotes; empty lines between records are none. A quote opens only a whole field. */
class CsvScanner implements RecordScanner {
  readonly #separator: number
  #quoted = false
  #recordStart = true
  #fieldStart = true

  constructor(separator: string) {
    this.#separator = separator.charCodeAt(0)
  }

  scan(chunk: Buffer, at: number, found: (start: number) => void): void {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (this.#recordStart) {
        if (byte === NEWLINE || byte === 13) continue
        found(at + i)
        this.#recordStart = false
        this.#fieldStart = true
      }
      if (this.#quoted) {
        // A doubled quote closes and opens again, which comes to the same here.
        if (byte === QUOTE) {
          this.#quoted = false
          this.#fieldStart = true
        }
      } else if (byte === QUOTE && this.#fieldStart) this.#quoted = true
      else if (byte === NEWLINE) this.#recordStart = true
      else this.#fieldStart = byte === this.#separator
    }
  }

  finish(file: string): void {
    if (!this.#quoted) return
    throw new TrinityError('data/malformed', 'the file ends inside a quoted field', {
      path: file,
      hint: 'a quote inside a quoted field is written twice: ""',
    })
  }
}

/** Fields of one record by RFC 4180. */
function parseRecord(text: string, separator: string): string[] {
  const fields: string[] = []
  let at = 0
  for (;;) {
    let field = ''
    if (text[at] === '"') {
      for (;;) {
        const end = text.indexOf('"', at + 1)
        field += text.slice(at + 1, end < 0 ? undefined : end)
        at = end < 0 ? text.length : end + 1
        if (text[at] !== '"') break
        field += '"'
      }
    }
    const next = text.indexOf(separator, at)
    field += text.slice(at, next < 0 ? undefined : next)
    fields.push(field)
    if (next < 0) return fields
    at = next + separator.length
  }
}

/** The start of a file that is long enough for its header. */
const HEADER_BYTES = 1 << 16

/** What separates the columns: `;` where the header has such and no comma, as spreadsheets write it in many countries. */
export async function separatorOf(path: string): Promise<',' | ';'> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    const unquoted = buffer.toString('latin1', 0, bytesRead).replaceAll(/"[^"]*"?/g, '')
    const header = unquoted.trimStart().split('\n', 1)[0]
    return header.includes(';') && !header.includes(',') ? ';' : ','
  } finally {
    await file.close()
  }
}

/** Comma- or tab-separated values with a header line. Every value is text: `007` stays `007`. */
export class CsvSource implements RowSource {
  readonly #file: OffsetFile
  readonly #separator: string
  readonly #header: readonly string[]
  readonly #copy?: Copy

  private constructor(file: OffsetFile, separator: string, header: readonly string[], copy?: Copy) {
    this.#copy = copy
    this.#file = file
    this.#separator = separator
    this.#header = header
  }

  /** `copy`: what is read instead of a compressed file. */
  static async open(path: string, separator = ',', copy?: Copy): Promise<CsvSource> {
    const file = await OffsetFile.open(path, new CsvScanner(separator), copy?.path)
    try {
      const header = file.length > 0 ? parseRecord(await headerOf(file), separator) : []
      const twice = header.find((name, i) => header.indexOf(name) !== i)
      if (twice === undefined) return new CsvSource(file, separator, header, copy)
      throw new TrinityError('data/malformed', `the column '${twice}' occurs twice in the header`, {
        path: `${path}:1`,
      })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get length(): number {
    return Math.max(0, this.#file.length - 1)
  }

  async row(index: number): Promise<DataRow> {
    return this.#parse(await this.#file.record(index + 1), index)
  }

  async *scan(): AsyncIterable<DataRow> {
    let index = 0
    for await (const record of this.#file.records(1)) yield await this.#parse(record, index++)
  }

  async where(index: number): Promise<string> {
    return `${this.#file.path}:${await this.#file.line(index + 1)}`
  }

  async close(): Promise<void> {
    await this.#file.close()
    await this.#copy?.release()
  }

  async #parse(record: Buffer, index: number): Promise<DataRow> {
    const fields = parseRecord(await textOf(record, () => this.where(index)), this.#separator)
    if (fields.length !== this.#header.length) {
      throw new TrinityError(
        'data/malformed',
        `the row has ${fields.length} fields, the header has ${this.#header.length}`,
        { path: await this.where(index), hint: 'put quotes around a field that holds a separator or a line break' },
      )
    }
    return Object.fromEntries(this.#header.map((name, i) => [name, fields[i]]))
  }
}

async function headerOf(file: OffsetFile): Promise<string> {
  return textOf(await file.record(0), async () => `${file.path}:1`)
}

/** A record without the line breaks that end it. */
function textOf(record: Buffer, where: () => Promise<string>): Promise<string> {
  let end = record.length
  while (end > 0 && (record[end - 1] === NEWLINE || record[end - 1] === 13)) end--
  return recordText(record.subarray(0, end), where)
}
