import { type FileHandle, open } from 'node:fs/promises'
import { MapRow, Message, Table, tableFromIPC, tableToIPC, Vector } from 'apache-arrow'
import { messageOf, TrinityError } from '../../base/error.js'
import { CHUNK_BUDGET, ChunkCache, chunkOf } from './chunk-cache.js'
import { plain } from './plain.js'
import { readAt } from './read-at.js'
import type { DataRow, RowSource } from './row-source.js'

/** Where one encapsulated message lies in the file. */
interface Span {
  start: number
  length: number
}

/** What a pass over the message headers finds; the bodies are not read. */
interface Layout {
  /** Some writers of the file form put the schema into the footer only. */
  schema?: Span
  dictionaries: Span[]
  batches: Span[]
  firstRows: Float64Array
  rows: number
}

/**
 * An Arrow IPC file or stream (`datasets` writes streams). Only the headers are read at first; a record batch is read
 * and decoded when one of its rows is asked for, so memory does not grow with the file.
 */
export class ArrowSource implements RowSource {
  readonly length: number
  readonly #path: string
  readonly #handle: FileHandle
  readonly #layout: Layout
  readonly #prefix: Uint8Array
  readonly #batches = new ChunkCache<Table>(CHUNK_BUDGET)

  private constructor(path: string, handle: FileHandle, layout: Layout, prefix: Uint8Array) {
    this.#path = path
    this.#handle = handle
    this.#layout = layout
    this.#prefix = prefix
    this.length = layout.rows
  }

  static async open(path: string): Promise<ArrowSource> {
    const handle = await open(path, 'r')
    try {
      const layout = await scanMessages(handle)
      const schema = layout.schema
        ? await readAt(handle, layout.schema.start, layout.schema.length)
        : await schemaFromFooter(handle)
      const dictionaries = await Promise.all(
        layout.dictionaries.map(({ start, length }) => readAt(handle, start, length)),
      )
      return new ArrowSource(path, handle, layout, Buffer.concat([schema, ...dictionaries]))
    } catch (error) {
      await handle.close()
      throw malformed(path, error)
    }
  }

  async row(index: number): Promise<DataRow> {
    const batch = chunkOf(this.#layout.firstRows, index)
    return rowOf(await this.#batch(batch), index - this.#layout.firstRows[batch])
  }

  async *scan(): AsyncIterable<DataRow> {
    for (let batch = 0; batch < this.#layout.batches.length; batch++) {
      const table = await this.#batch(batch)
      for (let i = 0; i < table.numRows; i++) yield rowOf(table, i)
    }
  }

  async where(index: number): Promise<string> {
    return `${this.#path}, row ${index}`
  }

  async close(): Promise<void> {
    this.#batches.clear()
    await this.#handle.close()
  }

  #batch(batch: number): Promise<Table> {
    const span = this.#layout.batches[batch]
    return this.#batches.get(batch, span.length, async () => {
      try {
        // Schema, dictionaries and one batch are a complete stream of their own.
        return tableFromIPC([this.#prefix, await readAt(this.#handle, span.start, span.length)])
      } catch (error) {
        throw malformed(this.#path, error)
      }
    })
  }
}

/** Both forms hold the same messages; the file form has `ARROW1` before and a footer behind them. */
async function scanMessages(handle: FileHandle): Promise<Layout> {
  const { size } = await handle.stat()
  const magic = await readAt(handle, 0, Math.min(8, size))
  let at = magic.toString('latin1', 0, 6) === 'ARROW1' ? 8 : 0
  let schema: Span | undefined
  const dictionaries: Span[] = []
  const batches: Span[] = []
  const firstRows: number[] = []
  let rows = 0
  const read = (start: number, length: number) => readAt(handle, start, length)
  while (at + 8 <= size) {
    const { message, length } = await messageAt(read, at, size)
    if (!message) break
    const span = { start: at, length }
    if (message.isSchema()) schema = span
    else if (message.isDictionaryBatch()) dictionaries.push(span)
    else if (message.isRecordBatch() && message.header().length > 0) {
      batches.push(span)
      firstRows.push(rows)
      rows += Number(message.header().length)
    }
    at += length
  }
  if (!schema && batches.length === 0) throw new Error('not an Arrow IPC file or stream')
  return { schema, dictionaries, batches, firstRows: Float64Array.from(firstRows), rows }
}

/** The message at a position and its length with its body; no message at the mark that ends a stream. */
async function messageAt(
  read: (start: number, length: number) => Promise<Uint8Array> | Uint8Array,
  at: number,
  size: number,
): Promise<{ message?: Message; length: number }> {
  const head = await read(at, 8)
  const view = new DataView(head.buffer, head.byteOffset, 8)
  // Before format 0.15 the marker 0xFFFFFFFF was not written.
  const marked = view.getUint32(0, true) === 0xffffffff
  const prefix = marked ? 8 : 4
  const metadata = view.getInt32(marked ? 4 : 0, true)
  if (metadata === 0) return { length: prefix }
  if (metadata < 0 || at + prefix + metadata > size) throw new Error(`broken message header at byte ${at}`)
  const message = Message.decode(await read(at + prefix, metadata))
  const length = prefix + metadata + Number(message.bodyLength)
  if (at + length > size) throw new Error(`the file ends inside the message at byte ${at}`)
  return { message, length }
}

/** Needs the whole file for a moment, since only the library's file reader knows the footer. */
async function schemaFromFooter(handle: FileHandle): Promise<Uint8Array> {
  const { size } = await handle.stat()
  const { schema } = tableFromIPC(await readAt(handle, 0, size))
  const stream = tableToIPC(new Table(schema), 'stream')
  const { length } = await messageAt((start, bytes) => stream.subarray(start, start + bytes), 0, stream.length)
  return stream.subarray(0, length)
}

function rowOf(table: Table, index: number): DataRow {
  const row: DataRow = {}
  for (const [i, field] of table.schema.fields.entries())
    row[field.name] = plain(table.getChildAt(i)?.get(index), opened)
  return row
}

function opened(value: object): object {
  if (value instanceof Vector) return [...value]
  if (value instanceof MapRow) return Object.fromEntries(value)
  return Symbol.iterator in value && !Array.isArray(value) && !ArrayBuffer.isView(value)
    ? Object.fromEntries(value as Iterable<[string, unknown]>)
    : value
}

function malformed(path: string, error: unknown): TrinityError {
  return new TrinityError('data/malformed', `cannot read the Arrow file: ${messageOf(error)}`, {
    path,
    hint: /codec/.test(messageOf(error)) ? 'write it without compression, or as Parquet' : undefined,
    cause: error,
  })
}
