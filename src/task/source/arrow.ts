import { type FileHandle, open } from 'node:fs/promises'
import { CompressionType, compressionRegistry, Message, Table, tableFromIPC, tableToIPC } from 'apache-arrow'
import { decompressZstd } from 'hyparquet-compressors'
import { readFault, TrinityError } from '../../base/error.js'
import { type Cell, cellsOf } from './arrow-value.js'
import { verifyHeader } from './arrow-verify.js'
import { CHUNK_BUDGET, ChunkCache, chunkOf } from './chunk-cache.js'
import { decodeLz4Frame } from './lz4-frame.js'
import { readAt } from './read-at.js'
import type { DataRow, RowSource } from './row-source.js'
import { NotUtf8, notUtf8 } from './utf8.js'

// Feather files are compressed unless their writer is told otherwise.
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decodeLz4Frame })
compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decompressZstd(bytes).slice() })

/** Where one encapsulated message lies in the file. */
interface Span {
  start: number
  length: number
}

/** A record batch and the dictionaries its keys belong to: in a stream a later dictionary may replace an earlier one. */
interface BatchSpan extends Span {
  dictionaries: readonly Span[]
}

/** A decoded record batch. */
interface Batch {
  rows: number
  columns: readonly (readonly [name: string, cell: Cell])[]
}

/** What a pass over the message headers finds; the bodies are not read. */
interface Layout {
  /** Some writers of the file form put the schema into the footer only. */
  schema?: Span
  batches: BatchSpan[]
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
  readonly #schema: Uint8Array
  readonly #batches = new ChunkCache<Batch>(CHUNK_BUDGET)

  private constructor(path: string, handle: FileHandle, layout: Layout, schema: Uint8Array) {
    this.#path = path
    this.#handle = handle
    this.#layout = layout
    this.#schema = schema
    this.length = layout.rows
  }

  static async open(path: string): Promise<ArrowSource> {
    const handle = await open(path, 'r')
    try {
      const layout = await scanMessages(handle)
      const schema = layout.schema
        ? await readAt(handle, layout.schema.start, layout.schema.length)
        : await schemaFromFooter(handle)
      return new ArrowSource(path, handle, layout, schema)
    } catch (error) {
      await handle.close()
      throw malformed(path, error)
    }
  }

  async row(index: number): Promise<DataRow> {
    const batch = chunkOf(this.#layout.firstRows, index)
    return this.#row(await this.#batch(batch), batch, index - this.#layout.firstRows[batch])
  }

  async *scan(): AsyncIterable<DataRow> {
    for (let batch = 0; batch < this.#layout.batches.length; batch++) {
      const decoded = await this.#batch(batch)
      for (let i = 0; i < decoded.rows; i++) yield this.#row(decoded, batch, i)
    }
  }

  async where(index: number): Promise<string> {
    return `${this.#path}, row ${index}`
  }

  async close(): Promise<void> {
    this.#batches.clear()
    await this.#handle.close()
  }

  #batch(batch: number): Promise<Batch> {
    const span = this.#layout.batches[batch]
    return this.#batches.get(batch, span.length, async () => {
      try {
        const spans = [...span.dictionaries, span]
        const messages = await Promise.all(spans.map(({ start, length }) => readAt(this.#handle, start, length)))
        // Schema, dictionaries and one batch are a complete stream of their own.
        const { batches, schema } = tableFromIPC(Buffer.concat([this.#schema, ...messages]))
        const { data, numRows } = batches[0]
        return { rows: numRows, columns: schema.fields.map(({ name }, i) => [name, cellsOf(data.children[i])]) }
      } catch (error) {
        throw malformed(this.#path, error)
      }
    })
  }

  #row(batch: Batch, number: number, index: number): DataRow {
    try {
      return Object.fromEntries(batch.columns.map(([name, cell]) => [name, cell(index)]))
    } catch (error) {
      const where = `${this.#path}, row ${this.#layout.firstRows[number] + index}`
      throw error instanceof NotUtf8 ? notUtf8(where) : malformed(where, error)
    }
  }
}

/** Both forms hold the same messages; the file form has `ARROW1` before and a footer behind them. */
async function scanMessages(handle: FileHandle): Promise<Layout> {
  const { size } = await handle.stat()
  const magic = await readAt(handle, 0, Math.min(8, size))
  const isFile = magic.toString('latin1', 0, 6) === 'ARROW1'
  let at = isFile ? 8 : 0
  let schema: Span | undefined
  const dictionaries = new Map<number, Span[]>()
  const batches: BatchSpan[] = []
  const firstRows: number[] = []
  let rows = 0
  const read = (start: number, length: number) => readAt(handle, start, length)
  while (at + 8 <= size) {
    const { message, length } = await messageAt(read, at, size)
    if (!message) break
    const span = { start: at, length }
    if (message.isSchema()) schema = span
    else if (message.isDictionaryBatch()) {
      const { id, isDelta } = message.header()
      dictionaries.set(id, isDelta || isFile ? [...(dictionaries.get(id) ?? []), span] : [span])
    } else if (message.isRecordBatch() && message.header().length > 0) {
      batches.push({ ...span, dictionaries: [...dictionaries.values()].flat() })
      firstRows.push(rows)
      rows += Number(message.header().length)
    }
    at += length
  }
  if (!schema && batches.length === 0) throw new Error('not an Arrow IPC file or stream')
  // In a file a dictionary is never replaced, and may lie behind the batches that use it.
  const all = [...dictionaries.values()].flat()
  if (isFile) for (const batch of batches) batch.dictionaries = all
  return { schema, batches, firstRows: Float64Array.from(firstRows), rows }
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
  const header = await read(at + prefix, metadata)
  verifyHeader(header)
  const message = Message.decode(header)
  const body = Number(message.bodyLength)
  const length = prefix + metadata + body
  if (!(body >= 0) || at + length > size) throw new Error(`the file ends inside the message at byte ${at}`)
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

function malformed(path: string, error: unknown): TrinityError {
  return new TrinityError('data/malformed', `cannot read the Arrow file: ${readFault(error)}`, {
    path,
    cause: error,
  })
}
