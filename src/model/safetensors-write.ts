import { TrinityError } from '../base/error.js'
import { atomicFile } from '../base/file/atomic-file.js'
import { BLOCK, BlockHash } from '../base/file/block-hash.js'
import { rememberHash } from '../base/file/written-hash.js'
import { type Dtype, dtypeBytes, type FloatDtype, fromFloat32 } from './dtype.js'
import { bytesOf } from './safetensors.js'

export interface TensorToWrite {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  /**
   * The elements, as bytes of `dtype` or as f32 (converted where `dtype` is another float). A function is called when
   * its turn comes, so that a big model never has to be in memory twice. It may return the elements in portions.
   */
  readonly data: ArrayBufferView | (() => ArrayBufferView | Promise<ArrayBufferView> | AsyncIterable<ArrayBufferView>)
}

/** Bytes that are written while those before are being hashed. */
const PIECE = 4 * BLOCK

/**
 * Writes a safetensors file beside its destination and renames it. The result depends on names, dtypes, shapes and
 * values only: tensors are ordered by element size (so that each one is aligned), then by name. It is hashed as it is
 * written, for the list of files of a checkpoint.
 */
export async function writeSafetensors(
  path: string,
  tensors: Iterable<TensorToWrite>,
  metadata: Record<string, string> = { format: 'pt' },
): Promise<void> {
  const ordered = [...tensors].sort(
    (a, b) => dtypeBytes[b.dtype] - dtypeBytes[a.dtype] || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
  const header = encodeHeader(ordered, metadata, path)
  const hash = new BlockHash()
  await atomicFile(path, async (handle) => {
    await writeFully(handle, header, hash)
    for (const tensor of ordered) {
      const data = typeof tensor.data === 'function' ? await tensor.data() : tensor.data
      let written = 0
      for await (const part of ArrayBuffer.isView(data) ? [data] : data) {
        const bytes = encode(tensor, part)
        written += bytes.byteLength
        await writeFully(handle, bytes, hash)
      }
      checkSize(tensor, written, path)
    }
  })
  await rememberHash(path, await hash.digest())
}

function encodeHeader(tensors: TensorToWrite[], metadata: Record<string, string>, path: string): Uint8Array {
  const entries: [string, unknown][] = [['__metadata__', metadata]]
  const names = new Set(['__metadata__'])
  let offset = 0
  for (const { name, dtype, shape } of tensors) {
    if (names.has(name)) {
      throw new TrinityError('safetensors/name', `cannot write tensor '${name}' twice`, { path })
    }
    names.add(name)
    const end = offset + byteSize(shape, dtype)
    entries.push([name, { dtype, shape, data_offsets: [offset, end] }])
    offset = end
  }
  // Written by hand and not as an object: a JavaScript object would move names that look like numbers to the front.
  const text = `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  const length = Math.ceil(Buffer.byteLength(text) / 8) * 8
  const out = Buffer.alloc(8 + length, ' ')
  out.writeBigUInt64LE(BigInt(length))
  out.write(text, 8)
  return out
}

function encode(tensor: TensorToWrite, data: ArrayBufferView): Uint8Array {
  const floats = data instanceof Float32Array && (tensor.dtype === 'F16' || tensor.dtype === 'BF16')
  return floats ? fromFloat32(tensor.dtype as FloatDtype, data) : bytesOf(data)
}

function checkSize(tensor: TensorToWrite, written: number, path: string): void {
  const expected = byteSize(tensor.shape, tensor.dtype)
  if (written === expected) return
  throw new TrinityError(
    'safetensors/size',
    `tensor '${tensor.name}' of ${tensor.dtype} [${tensor.shape}] needs ${expected} bytes, got ${written}`,
    { path },
  )
}

function byteSize(shape: readonly number[], dtype: Dtype): number {
  return shape.reduce((size, dimension) => size * dimension, dtypeBytes[dtype])
}

/** What is hashed is what was to be written, not what came of it. */
async function writeFully(
  handle: { write(bytes: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }> },
  bytes: Uint8Array,
  hash: BlockHash,
): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const end = Math.min(bytes.byteLength, at + PIECE)
    await hash.update(bytes.subarray(at, end))
    while (at < end) at += (await handle.write(bytes, at, end - at)).bytesWritten
  }
}
