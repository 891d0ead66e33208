import { writeFile } from 'node:fs/promises'
import { crc32 } from '../../base/crc.js'
import { bytesOf } from '../safetensors.js'

/** A tensor for a file of `torch.save`. */
export interface SavedTensor {
  readonly values: Float32Array
  readonly shape: readonly number[]
  readonly stride?: readonly number[]
}

export type Saved = SavedTensor | string | number | { readonly raw: Buffer } | Map<string, Saved>

const latin = (text: string) => Buffer.from(text, 'latin1')

export const op = {
  global: (module: string, name: string) => latin(`c${module}\n${name}\n`),
  text: (text: string) => Buffer.concat([latin('X'), u32(Buffer.byteLength(text)), Buffer.from(text)]),
  int: (n: number) => Buffer.concat([latin('J'), u32(n)]),
  tuple: (...parts: Buffer[]) => Buffer.concat([latin('('), ...parts, latin('t')]),
  reduce: (callee: Buffer, args: Buffer) => Buffer.concat([callee, args, latin('R')]),
  dict: (entries: [Buffer, Buffer][]) => Buffer.concat([latin('}('), ...entries.flat(), latin('u')]),
}

function u32(n: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32LE(n)
  return out
}

/** A pickle of protocol 2 that ends here. */
export const pickle = (body: Buffer): Buffer => Buffer.concat([Buffer.of(0x80, 2), body, latin('.')])

/** Writes what `torch.save` would write. */
export async function saveTorch(path: string, root: Saved, pkl?: Buffer): Promise<void> {
  const storages: Buffer[] = []
  const encode = (value: Saved): Buffer => {
    if (typeof value === 'string') return op.text(value)
    if (typeof value === 'number') return op.int(value)
    if (value instanceof Map) return op.dict([...value].map(([key, entry]) => [op.text(key), encode(entry)]))
    if ('raw' in value) return value.raw
    const key = String(storages.push(Buffer.from(bytesOf(value.values))) - 1)
    const counts = (list: readonly number[]) => op.tuple(...list.map(op.int))
    const stride = value.stride ?? value.shape.map((_, i) => value.shape.slice(i + 1).reduce((a, b) => a * b, 1))
    const storage = op.tuple(
      op.text('storage'),
      op.global('torch', 'FloatStorage'),
      op.text(key),
      op.text('cpu'),
      op.int(value.values.length),
    )
    const args = [storage, latin('Q'), op.int(0), counts(value.shape), counts(stride), latin('\x89'), latin('}')]
    return op.reduce(op.global('torch._utils', '_rebuild_tensor_v2'), op.tuple(...args))
  }
  const data = pkl ?? pickle(encode(root))
  await writeFile(
    path,
    zipOf([['a/data.pkl', data], ...storages.map((bytes, i): [string, Buffer] => [`a/data/${i}`, bytes])]),
  )
}

/** A zip file whose entries are stored as they are. */
export function zipOf(files: [string, Buffer][], claimed?: number): Buffer {
  const [bodies, list]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [name, data] of files) {
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(claimed ?? data.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([latin('PK\x03\x04'), common, Buffer.from(name), data])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    list.push(Buffer.concat([latin('PK\x01\x02'), Buffer.of(20, 0), common, rest, Buffer.from(name)]))
    bodies.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(list)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, directory, end])
}
