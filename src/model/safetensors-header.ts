import { TrinityError } from '../base/error.js'
import { parseJsonText } from '../base/json-text.js'
import { dtypeBytes, isDtype } from './dtype.js'
import { repeatedKey } from './json-keys.js'
import type { StoredTensor } from './tensor-source.js'

export interface TensorInfo extends StoredTensor {
  /** Offset of the first byte in the file. */
  readonly offset: number
}

export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: Readonly<Record<string, string>>
}

/** The limit of the reference implementation; also bounds the memory a lying length can make us take. */
const maxHeaderBytes = 100_000_000

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Length of the header from the first 8 bytes of a file of `fileSize` bytes. */
export function headerLength(start: Uint8Array, fileSize: number, file: string): number {
  if (start.byteLength < 8) {
    throw broken(file, `is ${fileSize} bytes long, too short for a safetensors file`, 'copy or download the file again')
  }
  const length = new DataView(start.buffer, start.byteOffset, 8).getBigUint64(0, true)
  if (length > BigInt(maxHeaderBytes)) {
    throw broken(file, `claims a header of ${length} bytes (the limit is ${maxHeaderBytes})`, notSafetensors)
  }
  if (Number(length) + 8 > fileSize) {
    throw broken(file, `is truncated: its header needs ${Number(length) + 8} bytes, the file has ${fileSize}`, again)
  }
  return Number(length)
}

/** Checks everything the header says against the size of the file, so that later reads cannot go wrong. */
export function parseHeader(header: Uint8Array, fileSize: number, file: string): SafetensorsHeader {
  const root = parseJson(header, file)
  const dataStart = 8 + header.byteLength
  const dataBytes = fileSize - dataStart
  const tensors = new Map<string, TensorInfo>()
  let metadata: Record<string, string> = {}
  for (const [name, entry] of Object.entries(root)) {
    if (name === '__metadata__') metadata = parseMetadata(entry, file)
    else tensors.set(name, parseTensor(name, entry, dataStart, dataBytes, file))
  }
  checkCover(tensors, dataStart, dataBytes, file)
  return { tensors, metadata }
}

function parseJson(header: Uint8Array, file: string): Record<string, unknown> {
  let text: string
  try {
    text = utf8.decode(header)
  } catch (cause) {
    throw broken(file, 'has a header that is not UTF-8', notSafetensors, cause)
  }
  let root: unknown
  try {
    root = parseJsonText(text)
  } catch (cause) {
    throw broken(file, 'has a header that is not JSON', notSafetensors, cause)
  }
  if (!isRecord(root)) throw broken(file, 'has a header that is not a JSON object', notSafetensors)
  const twice = repeatedKey(text)
  if (twice !== undefined) throw broken(file, `has a header that names '${twice}' twice`, rewrite)
  return root
}

function parseMetadata(entry: unknown, file: string): Record<string, string> {
  if (!isRecord(entry) || Object.values(entry).some((value) => typeof value !== 'string')) {
    throw broken(file, 'has __metadata__ that is not a map from text to text', rewrite)
  }
  return entry as Record<string, string>
}

function parseTensor(name: string, entry: unknown, dataStart: number, dataBytes: number, file: string): TensorInfo {
  const wrong = (what: string) => broken(file, `tensor '${name}' ${what}`, rewrite)
  if (!isRecord(entry)) throw wrong('is not described by a JSON object')
  const { dtype, shape, data_offsets: offsets } = entry
  if (!isDtype(dtype)) {
    throw new TrinityError('safetensors/dtype', `${file}: tensor '${name}' has unknown dtype ${show(dtype)}`, {
      path: file,
      hint: `known: ${Object.keys(dtypeBytes).join(', ')}`,
    })
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) throw wrong(`has shape ${show(shape)}`)
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw wrong(`has data_offsets ${show(offsets)}`)
  }
  const [begin, end] = offsets as [number, number]
  let size = 1
  for (const dimension of shape) size *= dimension
  const bytes = size * dtypeBytes[dtype]
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(bytes)) throw wrong(`has impossible shape ${show(shape)}`)
  if (end < begin || end > dataBytes) {
    throw wrong(`is at bytes ${begin}…${end}, outside the ${dataBytes} bytes of data the file holds`)
  }
  if (end - begin !== bytes) {
    throw wrong(`is ${show(shape)} of ${dtype} = ${bytes} bytes, but its offsets span ${end - begin}`)
  }
  return { name, dtype, shape, size, bytes, offset: dataStart + begin }
}

/** The format asks that tensors cover the data exactly once: no overlap, no gap, nothing behind the last. */
function checkCover(tensors: Map<string, TensorInfo>, dataStart: number, dataBytes: number, file: string): void {
  const ordered = [...tensors.values()].sort((a, b) => a.offset - b.offset || a.bytes - b.bytes)
  let at = dataStart
  for (const tensor of ordered) {
    if (tensor.offset < at) throw broken(file, `tensor '${tensor.name}' overlaps the one before it`, rewrite)
    if (tensor.offset > at) {
      throw broken(file, `has ${tensor.offset - at} bytes before tensor '${tensor.name}' that belong to none`, rewrite)
    }
    at += tensor.bytes
  }
  const rest = dataStart + dataBytes - at
  if (rest > 0) throw broken(file, `has ${rest} trailing bytes that belong to no tensor`, again)
}

const again = 'copy or download the file again'
const rewrite = 'write the file again with a safetensors library'
const notSafetensors = 'check that this is a safetensors file and that it was copied completely'

function broken(file: string, what: string, hint: string, cause?: unknown): TrinityError {
  return new TrinityError('safetensors/invalid', `${file}: ${what}`, { path: file, hint, cause })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A value from the file, short enough for a message. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
