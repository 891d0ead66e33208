import { type FileHandle, open } from 'node:fs/promises'
import { TrinityError } from '../base/error.js'
import { unreadable } from '../base/file/system-error.js'
import { type Dtype, dtypeBytes, toFloat32 } from './dtype.js'
import { readFully } from './read-fully.js'
import { headerLength, parseHeader, type SafetensorsHeader, type TensorInfo } from './safetensors-header.js'
import type { ElementRange, TensorSource } from './tensor-source.js'

export type { TensorInfo } from './safetensors-header.js'

const UNREADABLE = 'safetensors/unreadable'

/** A multiple of every element size; small enough that a conversion needs little memory beside its target. */
const chunkBytes = 8 << 20

/** An open safetensors file. The header is checked completely at `open`; tensors are read when asked for. */
export class SafetensorsFile implements TensorSource {
  readonly path: string
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: Readonly<Record<string, string>>
  readonly #handle: FileHandle

  private constructor(path: string, header: SafetensorsHeader, handle: FileHandle) {
    this.path = path
    this.tensors = header.tensors
    this.metadata = header.metadata
    this.#handle = handle
  }

  static async open(path: string): Promise<SafetensorsFile> {
    let handle: FileHandle
    try {
      handle = await open(path, 'r')
    } catch (cause) {
      throw unreadable(path, cause, UNREADABLE)
    }
    try {
      const { size } = await handle.stat()
      const start = new Uint8Array(Math.min(8, size))
      await readFully(handle, start, 0, path)
      const header = new Uint8Array(headerLength(start, size, path))
      await readFully(handle, header, 8, path)
      return new SafetensorsFile(path, parseHeader(header, size, path), handle)
    } catch (error) {
      await handle.close()
      throw error instanceof TrinityError ? error : unreadable(path, error, UNREADABLE)
    }
  }

  info(name: string): TensorInfo {
    const info = this.tensors.get(name)
    if (info) return info
    throw new TrinityError('safetensors/missing', `${this.path} holds no tensor '${name}'`, { path: this.path })
  }

  /** The bytes of a tensor, as they are in the file (little-endian, row-major); or only those of some elements. */
  async readRaw(name: string, range?: ElementRange): Promise<Uint8Array> {
    const info = this.info(name)
    const [from, to] = range ?? [0, info.size]
    const width = dtypeBytes[info.dtype]
    const bytes = allocate(Uint8Array, (to - from) * width, info, this.path)
    await readFully(this.#handle, bytes, info.offset + from * width, this.path)
    return bytes
  }

  /** A tensor as f32, whatever its dtype; into `target` where one is given. */
  async readFloat32(name: string, target?: Float32Array): Promise<Float32Array> {
    const info = this.info(name)
    const out = target ?? allocate(Float32Array, info.size, info, this.path)
    if (out.length !== info.size) {
      throw new TrinityError('safetensors/size', `tensor '${name}' has ${info.size} elements, not ${out.length}`, {
        path: this.path,
      })
    }
    if (info.dtype === 'F32') {
      await readFully(this.#handle, bytesOf(out), info.offset, this.path)
      return out
    }
    const width = dtypeBytes[info.dtype]
    const chunk = new Uint8Array(Math.min(chunkBytes, info.bytes))
    for (let at = 0; at < info.bytes; at += chunk.byteLength) {
      const part = chunk.subarray(0, Math.min(chunk.byteLength, info.bytes - at))
      await readFully(this.#handle, part, info.offset + at, this.path)
      toFloat32(info.dtype, part, out.subarray(at / width, (at + part.byteLength) / width))
    }
    return out
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** Every tensor of a small file at once, as stored. */
export async function readSafetensors(
  path: string,
): Promise<Map<string, { dtype: Dtype; shape: readonly number[]; data: Uint8Array }>> {
  const file = await SafetensorsFile.open(path)
  try {
    const all = new Map<string, { dtype: Dtype; shape: readonly number[]; data: Uint8Array }>()
    for (const { name, dtype, shape } of file.tensors.values()) {
      all.set(name, { dtype, shape, data: await file.readRaw(name) })
    }
    return all
  } finally {
    await file.close()
  }
}

export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

function allocate<T>(type: { new (length: number): T }, length: number, info: TensorInfo, path: string): T {
  try {
    return new type(length)
  } catch (cause) {
    throw new TrinityError('safetensors/memory', `no memory for tensor '${info.name}' (${info.bytes} bytes)`, {
      path,
      hint: 'use a machine with more memory or a smaller model',
      cause,
    })
  }
}
