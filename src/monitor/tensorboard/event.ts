import { maskedCrc32c } from './crc32c.js'

/** The parts of TensorFlow's `Event` message that TensorBoard needs for scalars. */
export interface EventContent {
  /** Seconds since 1970. */
  wallTime: number
  step?: number
  fileVersion?: string
  scalars?: Readonly<Record<string, number>>
  /** What older files of the run say of `step` and later is void. */
  sessionStart?: boolean
}

/** Field number and wire type of protocol buffers. */
const FIELD = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 }
const SESSION_START = 1

export function encodeEvent({ wallTime, step, fileVersion, scalars, sessionStart }: EventContent): Buffer {
  const parts = [tag(1, FIELD.fixed64), double(wallTime)]
  if (step !== undefined) parts.push(tag(2, FIELD.varint), varint(step))
  if (fileVersion !== undefined) parts.push(text(3, fileVersion))
  if (scalars) parts.push(bytes(5, Buffer.concat(Object.entries(scalars).map(scalar))))
  if (sessionStart) parts.push(bytes(7, Buffer.concat([tag(1, FIELD.varint), varint(SESSION_START)])))
  return Buffer.concat(parts)
}

/** One record of a TFRecord file: length, its checksum, data, its checksum. */
export function frame(data: Uint8Array): Buffer {
  const record = Buffer.alloc(16 + data.length)
  record.writeBigUInt64LE(BigInt(data.length), 0)
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8)
  record.set(data, 12)
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length)
  return record
}

function scalar([name, value]: [string, number]): Buffer {
  const number = Buffer.alloc(4)
  number.writeFloatLE(value)
  return bytes(1, Buffer.concat([text(1, name), tag(2, FIELD.fixed32), number]))
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value))
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([tag(field, FIELD.bytes), varint(value.length), value])
}

function tag(field: number, wire: number): Buffer {
  return Buffer.of((field << 3) | wire)
}

function double(value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeDoubleLE(value)
  return buffer
}

/** Seven bits a byte, lowest first; negative numbers as 64-bit two's complement. */
function varint(value: number): Buffer {
  const out: number[] = []
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn)
    if (rest < 0x80n) return Buffer.from([...out, low])
    out.push(low | 0x80)
  }
}
