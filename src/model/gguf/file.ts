import { type FileHandle, open } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import { unreadable } from '../../base/file/system-error.js'
import { readFully } from '../read-fully.js'
import { dequantize } from './dequantize.js'
import { type GgufHeader, type GgufTensor, type GgufValue, HeaderGoesOn, parseGgufHeader } from './header.js'

/** Vocabularies make headers of some megabytes. */
const FIRST_BYTES = 8 << 20
/** Far above every real header. */
const LONGEST_HEADER = 1 << 28
/** Which of how many equal parts of a tensor. */
export type Part = readonly [index: number, count: number]

/** Bytes that are decoded at a time. */
const PIECE = 4 << 20

export function isGguf(path: string): boolean {
  return /\.gguf$/i.test(path)
}

/** An open GGUF file. The header is checked completely at `open`; tensors are read when asked for. */
export class GgufFile {
  readonly path: string
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
  /** Path, size and time of change: the same for the same contents. */
  readonly identity: string
  readonly #handle: FileHandle

  private constructor(path: string, identity: string, header: GgufHeader, handle: FileHandle) {
    this.path = path
    this.identity = identity
    this.metadata = header.metadata
    this.tensors = header.tensors
    this.#handle = handle
  }

  static async open(path: string): Promise<GgufFile> {
    let handle: FileHandle | undefined
    try {
      handle = await open(path, 'r')
      const { size, mtimeMs } = await handle.stat()
      return new GgufFile(path, `${path}\n${size}\n${mtimeMs}`, await readHeader(handle, size, path), handle)
    } catch (error) {
      await handle?.close()
      throw error instanceof TrinityError ? error : unreadable(path, error, 'gguf/unreadable')
    }
  }

  tensor(name: string): GgufTensor {
    const tensor = this.tensors.get(name)
    if (tensor) return tensor
    throw new TrinityError('gguf/missing', `${this.path} holds no tensor '${name}'`, { path: this.path })
  }

  /** A tensor's bytes as the file has them. */
  async readRaw(name: string, part?: Part): Promise<Uint8Array> {
    const { bytes, offset } = this.#place(name, part)
    const out = new Uint8Array(bytes)
    await readFully(this.#handle, out, offset, this.path, 'gguf/invalid')
    return out
  }

  /** A tensor as f32, whatever its type; into `target` where one is given. */
  async readFloat32(name: string, target?: Float32Array, part?: Part): Promise<Float32Array> {
    const { type, bytes, offset, size } = this.#place(name, part)
    const out = target ?? new Float32Array(size)
    if (out.length !== size) {
      throw new TrinityError('gguf/size', `tensor '${name}' has ${size} elements, not ${out.length}`, {
        path: this.path,
      })
    }
    const blocks = Math.max(1, Math.floor(PIECE / type.bytes))
    const piece = new Uint8Array(Math.min(bytes, blocks * type.bytes))
    for (let at = 0; at < bytes; at += piece.byteLength) {
      const part = piece.subarray(0, Math.min(piece.byteLength, bytes - at))
      await readFully(this.#handle, part, offset + at, this.path, 'gguf/invalid')
      const from = (at / type.bytes) * type.block
      dequantize(type, part, out.subarray(from, from + (part.byteLength / type.bytes) * type.block))
    }
    return out
  }

  /** Some elements of a tensor as f32. They must begin and end with a block. */
  async readElements(name: string, from: number, count: number): Promise<Float32Array> {
    const out = new Float32Array(count)
    dequantize(this.tensor(name).type, await this.readRawElements(name, from, count), out)
    return out
  }

  /** The bytes of some elements of a tensor. They must begin and end with a block. */
  async readRawElements(name: string, from: number, count: number): Promise<Uint8Array> {
    const { type, offset } = this.tensor(name)
    const out = new Uint8Array((count / type.block) * type.bytes)
    await readFully(this.#handle, out, offset + (from / type.block) * type.bytes, this.path, 'gguf/invalid')
    return out
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  #place(name: string, [index, count]: Part = [0, 1]): GgufTensor {
    const tensor = this.tensor(name)
    const bytes = tensor.bytes / count
    return { ...tensor, bytes, size: tensor.size / count, offset: tensor.offset + index * bytes }
  }
}

/** Its length stands nowhere: more of the file is read until it fits. */
async function readHeader(handle: FileHandle, size: number, path: string): Promise<GgufHeader> {
  for (let length = Math.min(size, FIRST_BYTES); ; length = Math.min(size, length * 4)) {
    const start = new Uint8Array(length)
    await readFully(handle, start, 0, path, 'gguf/invalid')
    try {
      return parseGgufHeader(start, size, path)
    } catch (error) {
      if (!(error instanceof HeaderGoesOn)) throw error
      if (length >= LONGEST_HEADER) throw new TrinityError('gguf/invalid', `${path} has a header without end`, { path })
    }
  }
}
