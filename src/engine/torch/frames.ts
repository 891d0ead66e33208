import { TrinityError } from '../../base/error.js'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'

/**
 * Frames between Trinity and a worker: a 16-byte prefix (magic, header length, payload length), a JSON header, raw
 * tensors. The other half is python/trinity_torch/wire/frames.py.
 */

export type FrameDtype = 'i32' | 'f32' | 'u8' | 'i64' | 'f64'
export type FrameData = Int32Array | Float32Array | Uint8Array | BigInt64Array | Float64Array

export interface FrameTensor {
  readonly data: FrameData
  readonly shape: readonly number[]
}

export interface Frame {
  readonly header: JsonObject
  readonly tensors: ReadonlyMap<string, FrameTensor>
}

const MAGIC = 0x31545254 // TRT1
const PREFIX = 16
/** Bytes. */
export interface FrameLimits {
  readonly header: number
  readonly payload: number
}
export const MAX: FrameLimits = { header: 64 * 2 ** 20, payload: 8 * 2 ** 30 }
const ALIGN = 8

const ARRAYS = {
  i32: Int32Array,
  f32: Float32Array,
  u8: Uint8Array,
  i64: BigInt64Array,
  f64: Float64Array,
} as const

/** Pieces to be written one after the other; tensors are not copied. */
export function encodeFrame(
  header: JsonObject,
  tensors: Readonly<Record<string, FrameData | FrameTensor>> = {},
): Uint8Array[] {
  const specs: JsonObject[] = []
  const pieces: Uint8Array[] = []
  let payload = 0
  for (const [name, given] of Object.entries(tensors)) {
    const { data, shape } = ArrayBuffer.isView(given) ? { data: given, shape: [given.length] } : given
    specs.push({ name, dtype: dtypeOf(data), shape })
    const pad = padded(data.byteLength) - data.byteLength
    if (data.byteLength > 0) pieces.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    if (pad > 0) pieces.push(new Uint8Array(pad))
    payload += data.byteLength + pad
  }
  const text = Buffer.from(textOf({ ...header, tensors: specs }))
  checkLengths(text.length, payload)
  const prefix = Buffer.alloc(PREFIX)
  prefix.writeUInt32LE(MAGIC, 0)
  prefix.writeUInt32LE(text.length, 4)
  prefix.writeBigUInt64LE(BigInt(payload), 8)
  return [prefix, text, ...pieces]
}

/** JSON has no NaN and no infinities; Python's float() reads their names. */
function textOf(header: JsonObject): string {
  // asked for every value, JSON.stringify takes several times as long
  return isFiniteIn(header) ? JSON.stringify(header) : JSON.stringify(header, words)
}

function isFiniteIn(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  for (const one of Array.isArray(value) ? value : Object.values(value)) if (!isFiniteIn(one)) return false
  return true
}

function words(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** A number that may have traveled as a word. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : Number.NaN
}

/** Cuts a byte stream into frames. Each payload is received into memory of its own, of which tensors are views. */
export class FrameReader {
  /** Of what is accepted from now on. */
  limits: FrameLimits
  readonly #prefix = Buffer.alloc(PREFIX)
  #target: Uint8Array = this.#prefix
  #filled = 0
  #payloadLength = 0
  #header: JsonObject | undefined
  #specs: readonly Spec[] = []

  constructor(limits: FrameLimits = MAX) {
    this.limits = limits
  }

  /** Takes the next bytes of the stream and gives the frames that they complete. Throws on anything off. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    let at = 0
    // a header or payload of no bytes is complete without any
    while (at < chunk.length || (this.#target.length === 0 && this.#target !== this.#prefix)) {
      const count = Math.min(this.#target.length - this.#filled, chunk.length - at)
      this.#target.set(chunk.subarray(at, at + count), this.#filled)
      this.#filled += count
      at += count
      if (this.#filled < this.#target.length) break
      const frame = this.#advance()
      if (frame) frames.push(frame)
    }
    return frames
  }

  /** The stream has been cut in the middle of a frame. */
  get partial(): boolean {
    return this.#filled > 0 || this.#target !== this.#prefix
  }

  /** What was waited for is there. */
  #advance(): Frame | undefined {
    const full = this.#target
    this.#filled = 0
    if (full === this.#prefix) {
      const length = this.#readPrefix()
      this.#target = new Uint8Array(length)
    } else if (!this.#header) {
      this.#header = parseHeader(full)
      this.#specs = specsOf(this.#header, this.#payloadLength)
      this.#target = new Uint8Array(this.#payloadLength)
    } else {
      const frame = { header: this.#header, tensors: views(this.#specs, full) }
      this.#header = undefined
      this.#target = this.#prefix
      return frame
    }
    return undefined
  }

  #readPrefix(): number {
    const magic = this.#prefix.readUInt32LE(0)
    if (magic !== MAGIC) throw bad(`a frame begins with 0x${magic.toString(16)}`)
    const header = this.#prefix.readUInt32LE(4)
    this.#payloadLength = Number(this.#prefix.readBigUInt64LE(8))
    checkLengths(header, this.#payloadLength, this.limits)
    return header
  }
}

interface Spec {
  readonly name: string
  readonly dtype: FrameDtype
  readonly shape: readonly number[]
  readonly count: number
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function parseHeader(text: Uint8Array): JsonObject {
  let header: unknown
  try {
    header = JSON.parse(UTF8.decode(text))
  } catch (error) {
    throw bad('the header is not JSON', error)
  }
  if (!isJsonObject(header)) throw bad('the header is not an object')
  return header
}

/** Checked before the payload is allocated. */
function specsOf({ tensors = [] }: JsonObject, payload: number): Spec[] {
  if (!Array.isArray(tensors)) throw bad('tensors is not a list')
  const names = new Set<unknown>()
  let total = 0
  const specs = tensors.map((one: unknown): Spec => {
    const { name, dtype, shape } = isJsonObject(one) ? one : {}
    if (typeof name !== 'string' || names.has(name)) throw bad('a tensor has no unique name')
    names.add(name)
    const known = typeof dtype === 'string' && Object.hasOwn(ARRAYS, dtype)
    if (!known || !Array.isArray(shape) || !shape.every((n) => Number.isInteger(n) && n >= 0)) {
      throw bad(`tensor '${name}' has no type and shape`)
    }
    const count = shape.reduce((product: number, n: number) => product * n, 1)
    total += padded(count * ARRAYS[dtype as FrameDtype].BYTES_PER_ELEMENT)
    if (!(total <= MAX.payload)) throw bad('the tensors are too large')
    return { name, dtype: dtype as FrameDtype, shape, count }
  })
  if (total !== payload) throw bad('the tensors of the header do not fill the payload')
  return specs
}

function views(specs: readonly Spec[], payload: Uint8Array): Map<string, FrameTensor> {
  let at = payload.byteOffset
  return new Map(
    specs.map(({ name, dtype, shape, count }) => {
      const data = new ARRAYS[dtype](payload.buffer as ArrayBuffer, at, count)
      at += padded(data.byteLength)
      return [name, { data, shape }]
    }),
  )
}

function dtypeOf(data: FrameData): FrameDtype {
  for (const [dtype, type] of Object.entries(ARRAYS)) if (data.constructor === type) return dtype as FrameDtype
  throw bad(`a ${data.constructor.name} cannot be sent`)
}

function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGN) * ALIGN
}

function checkLengths(header: number, payload: number, limits: FrameLimits = MAX): void {
  if (header <= limits.header && payload <= limits.payload) return
  throw bad(`a frame of ${header} + ${payload} bytes is over the limits of ${limits.header} + ${limits.payload}`)
}

function bad(message: string, cause?: unknown): TrinityError {
  const hint = 'are Trinity and trinity_torch from the same release?'
  return new TrinityError('engine/frame', `the torch worker sent something other than frames: ${message}`, {
    hint,
    cause,
  })
}
