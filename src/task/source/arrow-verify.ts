/**
 * Checks the header of an Arrow message before the library reads it. Its reader believes every length: a damaged file of
 * three kilobytes makes it build lists of billions. Headers are flatbuffers: tables of offsets, all relative.
 */
type Check = (buffer: View, at: number, depth: number) => void
/** What the fields of a table are, by number; others are numbers, which hold nothing. */
type Fields = Record<number, Check>

const DEEPEST = 64

class View {
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  int(at: number): number {
    this.within(at, 4)
    return this.#view.getInt32(at, true)
  }

  short(at: number): number {
    this.within(at, 2)
    return this.#view.getUint16(at, true)
  }

  byte(at: number): number {
    this.within(at, 1)
    return this.#view.getUint8(at)
  }

  within(at: number, length: number): void {
    if (at >= 0 && length >= 0 && at + length <= this.#view.byteLength) return
    throw new RangeError('a message header points outside of itself')
  }

  /** Where field `index` of the table at `at` lies; undefined when it is absent. */
  field(at: number, index: number): number | undefined {
    const vtable = at - this.int(at)
    const size = this.short(vtable)
    this.within(vtable, size)
    const entry = 4 + index * 2
    const offset = entry + 2 <= size ? this.short(vtable + entry) : 0
    return offset === 0 ? undefined : at + offset
  }
}

/** The target of an offset. */
function pointed(buffer: View, at: number): number {
  const offset = buffer.int(at)
  if (offset < 0) throw new RangeError('a message header points outside of itself')
  return at + offset
}

const items =
  (size: number): Check =>
  (buffer, at) => {
    const vector = pointed(buffer, at)
    buffer.within(vector + 4, buffer.int(vector) * size)
  }
const text = items(1)

const tables =
  (fields: () => Fields): Check =>
  (buffer, at, depth) => {
    const vector = pointed(buffer, at)
    const length = buffer.int(vector)
    buffer.within(vector + 4, length * 4)
    for (let i = 0; i < length; i++) table(fields)(buffer, vector + 4 + i * 4, depth)
  }

const table =
  (fields: () => Fields): Check =>
  (buffer, at, depth) => {
    if (depth > DEEPEST) throw new RangeError('a message header is nested too deep')
    const start = pointed(buffer, at)
    for (const [index, check] of Object.entries(fields())) {
      const field = buffer.field(start, Number(index))
      if (field !== undefined) check(buffer, field, depth + 1)
    }
  }

const keyValues = tables(() => ({ 0: text, 1: text }))
/** Of the types only time stamps (a zone) and unions (a list of ids) hold more than numbers, both as field 1. */
const field: Fields = {
  0: text,
  4: table(() => ({ 1: table(() => ({})) })),
  5: tables(() => field),
  6: keyValues,
}
const batch: Fields = { 1: items(16), 2: items(16), 3: table(() => ({})), 4: items(8) }
/** Schema, dictionary batch and record batch, by the number of their kind. */
const HEADERS: Record<number, Fields> = {
  1: { 1: tables(() => field), 2: keyValues, 3: items(8) },
  2: { 1: table(() => batch) },
  3: batch,
}

/** Throws where a header of a message reaches outside of its own bytes. */
export function verifyHeader(bytes: Uint8Array): void {
  const buffer = new View(bytes)
  const message = pointed(buffer, 0)
  const kind = buffer.field(message, 1)
  const header = buffer.field(message, 2)
  const metadata = buffer.field(message, 4)
  if (metadata !== undefined) keyValues(buffer, metadata, 0)
  const fields = HEADERS[kind === undefined ? 0 : buffer.byte(kind)]
  if (!fields || header === undefined) throw new RangeError('a message header of an unknown kind')
  table(() => fields)(buffer, header, 0)
}
