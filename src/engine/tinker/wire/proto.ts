import { badAnswer } from '../failure.js'

/**
 * Protocol buffers, as much of them as the Tinker API uses. Written by hand: seven small messages, whose bulk are arrays
 * that cross as plain bytes, do not need a compiler and its runtime.
 */
export class ProtoWriter {
  readonly #pieces: Uint8Array[] = []
  #size = 0

  /** Zero is what a field has that is not sent. */
  int(field: number, value: number): this {
    if (value !== 0) this.#push(varint(field * 8)).#push(varint(value))
    return this
  }

  text(field: number, value: string): this {
    return value === '' ? this : this.bytes(field, Buffer.from(value))
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#push(varint(field * 8 + 2))
      .#push(varint(value.length))
      .#push(value)
  }

  /** Whole numbers, one after the other without tags. */
  packed(field: number, values: readonly number[]): this {
    return values.length === 0 ? this : this.bytes(field, Buffer.concat(values.map(varint)))
  }

  double(field: number, value: number): this {
    if (value === 0 && !Object.is(value, -0)) return this
    const eight = new Uint8Array(8)
    new DataView(eight.buffer).setFloat64(0, value, true)
    return this.#push(varint(field * 8 + 1)).#push(eight)
  }

  message(field: number, value: ProtoWriter): this {
    this.#push(varint(field * 8 + 2)).#push(varint(value.#size))
    for (const piece of value.#pieces) this.#push(piece)
    return this
  }

  /** An entry of a map: its key, and its value as field 2. */
  entry(field: number, key: string, write: (entry: ProtoWriter) => void): this {
    const entry = new ProtoWriter().text(1, key)
    write(entry)
    return this.message(field, entry)
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#pieces, this.#size)
  }

  #push(piece: Uint8Array): this {
    this.#pieces.push(piece)
    this.#size += piece.length
    return this
  }
}

/** A field as it stands in a message: a number, or bytes. */
export interface ProtoField {
  readonly field: number
  readonly number: number
  readonly bytes: Uint8Array
}

const NONE = new Uint8Array(0)

/** The fields of a message, in order. What is no message is an error, whoever sent it. */
export function* protoFields(bytes: Uint8Array): Generator<ProtoField, void, undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (count: number) => {
    if (count > bytes.length - at) throw broken(`a field ends behind byte ${bytes.length}`)
    at += count
    return at - count
  }
  const number = () => {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[take(1)]
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
    throw broken('a number is too long')
  }
  while (at < bytes.length) {
    const tag = number()
    const [field, kind] = [Math.floor(tag / 8), tag % 8]
    if (kind === 0) yield { field, number: number(), bytes: NONE }
    else if (kind === 1) yield { field, number: view.getFloat64(take(8), true), bytes: NONE }
    else if (kind === 2) {
      const length = number()
      const from = take(length)
      yield { field, number: 0, bytes: bytes.subarray(from, from + length) }
    } else if (kind === 5) yield { field, number: view.getFloat32(take(4), true), bytes: NONE }
    else throw broken(`field ${field} is of the unknown kind ${kind}`)
  }
}

/** The whole numbers of a packed field. */
export function unpacked(bytes: Uint8Array): number[] {
  const values: number[] = []
  let value = 0
  let scale = 1
  for (const byte of bytes) {
    value += (byte & 127) * scale
    scale *= 128
    if (byte >= 128) continue
    values.push(value)
    value = 0
    scale = 1
  }
  return values
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let left = value
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  bytes.push(left)
  return Uint8Array.from(bytes)
}

function broken(what: string): Error {
  return badAnswer(`its bytes are no message: ${what}`)
}
