import { type FileHandle, open } from 'node:fs/promises'
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { readFault, TrinityError } from '../../base/error.js'
import { CHUNK_BUDGET, ChunkCache, chunkOf } from './chunk-cache.js'
import { parsers, valuesOf } from './parquet-value.js'
import { verifyMetadata, verifyPages } from './parquet-verify.js'
import { readAt } from './read-at.js'
import type { DataRow, RowSource } from './row-source.js'
import { NotUtf8, notUtf8 } from './utf8.js'

/** The library reads LZ4 of nothing, which is what the dictionary of an empty column is, as damage. */
const decompressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, decode]) => [
    codec,
    (input: Uint8Array, length: number) => (length === 0 ? new Uint8Array(0) : decode(input, length)),
  ]),
)

/** A Parquet file, one row group in memory at a time (more while they fit the budget). */
export class ParquetSource implements RowSource {
  readonly length: number
  readonly #path: string
  readonly #handle: FileHandle
  readonly #file: AsyncBuffer
  readonly #metadata: FileMetaData
  readonly #firstRows: Float64Array
  readonly #row: (row: unknown) => unknown
  readonly #groups = new ChunkCache<DataRow[]>(CHUNK_BUDGET)

  private constructor(path: string, handle: FileHandle, file: AsyncBuffer, metadata: FileMetaData) {
    this.#path = path
    this.#handle = handle
    this.#file = file
    this.#metadata = metadata
    this.#row = valuesOf(parquetSchema(metadata))
    this.length = Number(metadata.num_rows)
    this.#firstRows = new Float64Array(metadata.row_groups.length)
    let row = 0
    for (const [i, group] of metadata.row_groups.entries()) {
      this.#firstRows[i] = row
      row += Number(group.num_rows)
    }
  }

  static async open(path: string): Promise<ParquetSource> {
    const handle = await open(path, 'r')
    try {
      const { size } = await handle.stat()
      const slice = async (start: number, end = size) => (await readAt(handle, start, end - start)).buffer
      const file: AsyncBuffer = { byteLength: size, slice }
      const metadata = await parquetMetadataAsync(file)
      verifyMetadata(metadata, size)
      return new ParquetSource(path, handle, file, metadata)
    } catch (error) {
      await handle.close()
      throw malformed(path, error)
    }
  }

  async row(index: number): Promise<DataRow> {
    const group = chunkOf(this.#firstRows, index)
    return this.#read(await this.#group(group), index - this.#firstRows[group], index)
  }

  async *scan(): AsyncIterable<DataRow> {
    for (const [group, first] of this.#firstRows.entries()) {
      const rows = await this.#group(group)
      for (const i of rows.keys()) yield this.#read(rows, i, first + i)
    }
  }

  async where(index: number): Promise<string> {
    return `${this.#path}, row ${index}`
  }

  async close(): Promise<void> {
    this.#groups.clear()
    await this.#handle.close()
  }

  #group(group: number): Promise<DataRow[]> {
    const { total_byte_size: bytes, num_rows: rows, columns } = this.#metadata.row_groups[group]
    return this.#groups.get(group, Number(bytes), async () => {
      const rowStart = this.#firstRows[group]
      try {
        for (const { meta_data: column } of columns) {
          if (column)
            await verifyPages((start, length) => readAt(this.#handle, start, length), column, this.#file.byteLength)
        }
        return await parquetReadObjects({
          file: this.#file,
          metadata: this.#metadata,
          compressors: decompressors,
          parsers,
          rowStart,
          rowEnd: rowStart + Number(rows),
          // Only columns that say they are text are decoded: the bytes of an image must stay what they are.
          utf8: false,
        })
      } catch (error) {
        throw malformed(this.#path, error)
      }
    })
  }

  /** A fresh copy for each caller. */
  #read(group: readonly DataRow[], index: number, row: number): DataRow {
    try {
      return this.#row(group[index]) as DataRow
    } catch (error) {
      const where = `${this.#path}, row ${row}`
      throw error instanceof NotUtf8 ? notUtf8(where) : malformed(where, error)
    }
  }
}

function malformed(path: string, error: unknown): TrinityError {
  return new TrinityError('data/malformed', `cannot read the Parquet file: ${readFault(error)}`, { path, cause: error })
}
