import { TrinityError } from '../../base/error.js'
import { atomicFile } from '../../base/file/atomic-file.js'
import { type GgufType, ggufTypes } from './types.js'

/** A value of the metadata with the type that readers expect of it. */
export type Entry =
  | { readonly type: 'u32' | 'i32' | 'f32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly type: 'bools'; readonly value: readonly boolean[] }
  | { readonly type: 'i32s' | 'f32s'; readonly value: readonly number[] }

export interface GgufTensorToWrite {
  readonly name: string
  readonly type: GgufType
  readonly shape: readonly number[]
  /** Its bytes, one part after the other; each is made when its turn comes. */
  readonly parts: readonly (() => Promise<Uint8Array>)[]
}

const ALIGNMENT = 32
const numbers = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, list: 9 } as const

/** Writes a GGUF file (version 3) beside its destination and renames it; one part of a tensor is in memory at a time. */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, Entry>,
  tensors: readonly GgufTensorToWrite[],
): Promise<void> {
  const sized = tensors.map((tensor) => ({ ...tensor, bytes: bytesOf(tensor) }))
  const header = encodeHeader(metadata, sized)
  await atomicFile(path, async (handle) => {
    await handle.writeFile(header)
    for (const { name, bytes, parts } of sized) {
      for (const part of parts) {
        const found = await part()
        if (found.byteLength * parts.length !== bytes) {
          const message = `tensor '${name}' has ${found.byteLength * parts.length} bytes instead of ${bytes}`
          throw new TrinityError('gguf/size', message, { path })
        }
        await handle.writeFile(found)
      }
      await handle.writeFile(new Uint8Array(padding(bytes)))
    }
  })
}

function bytesOf({ type, shape }: GgufTensorToWrite): number {
  const { block, bytes } = ggufTypes.get(type)!
  return (shape.reduce((size, n) => size * n, 1) / block) * bytes
}

const padding = (length: number): number => (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT

function encodeHeader(
  metadata: ReadonlyMap<string, Entry>,
  tensors: readonly (GgufTensorToWrite & { bytes: number })[],
) {
  const out: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.size)]
  for (const [key, entry] of metadata) out.push(text(key), ...encodeEntry(entry))
  let offset = 0
  for (const { name, type, shape, bytes } of tensors) {
    out.push(
      text(name),
      u32(shape.length),
      ...[...shape].reverse().map(u64),
      u32(ggufTypes.get(type)!.number),
      u64(offset),
    )
    offset += bytes + padding(bytes)
  }
  const header = Buffer.concat(out)
  return Buffer.concat([header, Buffer.alloc(padding(header.length))])
}

function encodeEntry({ type, value }: Entry): Buffer[] {
  switch (type) {
    case 'bool':
      return [u32(numbers.bool), Buffer.of(value ? 1 : 0)]
    case 'text':
      return [u32(numbers.text), text(value)]
    case 'texts':
      return [u32(numbers.list), u32(numbers.text), u64(value.length), Buffer.concat(value.map(text))]
    case 'bools':
      return [u32(numbers.list), u32(numbers.bool), u64(value.length), Buffer.from(value.map(Number))]
    case 'i32s':
    case 'f32s': {
      const list = type === 'i32s' ? Int32Array.from(value) : Float32Array.from(value)
      return [
        u32(numbers.list),
        u32(numbers[type === 'i32s' ? 'i32' : 'f32']),
        u64(value.length),
        Buffer.from(list.buffer),
      ]
    }
    default:
      return [u32(numbers[type]), number(type, value)]
  }
}

function number(type: 'u32' | 'i32' | 'f32', value: number): Buffer {
  const out = Buffer.alloc(4)
  if (type === 'f32') out.writeFloatLE(value)
  else if (type === 'i32') out.writeInt32LE(value)
  else out.writeUInt32LE(value)
  return out
}

const u32 = (value: number): Buffer => number('u32', value)

function u64(value: number): Buffer {
  const out = Buffer.alloc(8)
  out.writeBigUInt64LE(BigInt(value))
  return out
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([u64(bytes.length), bytes])
}
