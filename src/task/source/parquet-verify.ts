import { type ColumnMetaData, type FileMetaData, parquetSchema, type SchemaTree } from 'hyparquet'

/** Rows of a group that need no bytes for each: a column with one value may be very short. */
const FREE_ROWS = 1 << 20

/** Checks what a footer says against the file: the library believes every number, and leaves promises behind when it stops. */
export function verifyMetadata(metadata: FileMetaData, size: number): void {
  const leaves = leavesOf(parquetSchema(metadata)).join('\n')
  const most = BigInt(Math.max(FREE_ROWS, size * 256))
  let rows = 0n
  for (const group of metadata.row_groups) {
    if (group.num_rows < 0n || group.num_rows > most)
      throw new RangeError(`a row group says it has ${group.num_rows} rows`)
    rows += group.num_rows
    const columns = group.columns.map(({ meta_data: column }) => {
      if (!column) throw new RangeError('a column has no description (is the file encrypted?)')
      chunkRange(column, size)
      return column.path_in_schema.join('.')
    })
    if (columns.join('\n') !== leaves) throw new RangeError('a row group has different columns than the schema')
  }
  if (rows !== metadata.num_rows)
    throw new RangeError(`the row groups have ${rows} rows, the file says ${metadata.num_rows}`)
}

/** The bytes of a column chunk, as the library takes them. */
export function chunkRange(column: ColumnMetaData, size: number): { start: number; end: number } {
  const start = Number(column.dictionary_page_offset || column.data_page_offset)
  const end = start + Number(column.total_compressed_size)
  if (start >= 0 && end >= start && end <= size && column.num_values >= 0n) return { start, end }
  throw new RangeError('a column is outside the file')
}

function leavesOf(node: SchemaTree): string[] {
  return node.children.length === 0 ? [node.path.join('.')] : node.children.flatMap(leavesOf)
}

/** Checks the headers of the pages of a chunk: how much they hold and how large they become. */
export async function verifyPages(read: Read, column: ColumnMetaData, size: number): Promise<void> {
  const { start, end } = chunkRange(column, size)
  const room = Number(column.total_uncompressed_size) + 1024
  let values = 0
  for (let at = start; at < end - 1 && values < Number(column.num_values); ) {
    const { page, length } = await headerAt(read, at, end)
    const [large, small] = [page[2], page[3]]
    const data = page[5] ?? page[8]
    const { 1: count } = (data ?? page[7] ?? {}) as Struct
    if (typeof large !== 'number' || typeof small !== 'number' || typeof count !== 'number') {
      throw new RangeError('a page has no valid header')
    }
    if (large < 0 || large > room || small < 0 || at + length + small > end) {
      throw new RangeError('a page is larger than its column')
    }
    if (count < 0 || count > (data ? Number(column.num_values) - values : room)) {
      throw new RangeError(`a page says it has ${count} values`)
    }
    if (data) values += count
    at += length + small
  }
}

type Read = (start: number, length: number) => Promise<Uint8Array>

/** A page header and its length. Most are short; one with long statistics needs a second look. */
async function headerAt(read: Read, at: number, end: number): Promise<{ page: Struct; length: number }> {
  for (let length = 256; ; length *= 64) {
    const reader = new CompactReader(await read(at, Math.min(length, end - at)))
    try {
      return { page: reader.struct(), length: reader.at }
    } catch (error) {
      if (!(error instanceof EndsEarly) || length >= end - at) throw error
    }
  }
}

class EndsEarly extends RangeError {
  constructor() {
    super('a page header ends early')
  }
}

type Struct = { [field: number]: number | Struct | undefined }

/** As much of Thrift's compact protocol as a page header needs: numbers and structs; the rest is passed over. */
class CompactReader {
  at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  struct(depth = 0): Struct {
    if (depth > 8) throw new RangeError('a page header is nested too deep')
    const out: Struct = {}
    for (let field = 0; ; ) {
      const head = this.#byte()
      if (head === 0) return out
      field = head >> 4 ? field + (head >> 4) : this.#zigzag()
      out[field] = this.#value(head & 15, depth)
    }
  }

  #value(type: number, depth: number): number | Struct | undefined {
    if (type === 1 || type === 2) return undefined
    if (type === 3) return void this.#skip(1)
    if (type >= 4 && type <= 6) return this.#zigzag()
    if (type === 7) return void this.#skip(8)
    if (type === 8) return void this.#skip(this.#varint())
    if (type === 12) return this.struct(depth + 1)
    throw new RangeError('a page header holds something unknown')
  }

  #byte(): number {
    if (this.at >= this.#bytes.length) throw new EndsEarly()
    return this.#bytes[this.at++]
  }

  #skip(length: number): void {
    if (this.at + length > this.#bytes.length) throw new EndsEarly()
    this.at += length
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
      if (scale > 2 ** 42) throw new RangeError('a number of a page header is too long')
    }
  }

  #zigzag(): number {
    const value = this.#varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}
