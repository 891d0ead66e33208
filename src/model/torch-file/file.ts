import { TrinityError } from '../../base/error.js'
import { ZipFile } from '../../base/file/zip.js'
import { dtypeBytes } from '../dtype.js'
import { PyObject, type PyValue, readPickle } from './pickle.js'
import type { TorchTensor } from './tensor.js'

/** Descriptions of a checkpoint with a hundred thousand tensors are some tens of megabytes. */
const LONGEST_PICKLE = 1 << 28

/** A file of `torch.save`, or a part of one: what it describes, and its storages, which are read when asked for. */
export class TorchFile {
  readonly path: string
  /** What was saved. */
  readonly root: PyValue
  readonly #zip: ZipFile
  readonly #prefix: string

  private constructor(path: string, root: PyValue, zip: ZipFile, prefix: string) {
    this.path = path
    this.root = root
    this.#zip = zip
    this.#prefix = prefix
  }

  static async open(path: string, part?: { offset: number; length: number }): Promise<TorchFile> {
    const zip = await ZipFile.open(path, part)
    try {
      const name = zip.names.find((name) => /^[^/]+\/data\.pkl$/.test(name))
      if (name === undefined)
        throw new TrinityError('torch-file/invalid', `${path} is not a file of torch.save`, { path })
      if (zip.sizeOf(name) > LONGEST_PICKLE) {
        throw new TrinityError('torch-file/size', `${path} has a description of ${zip.sizeOf(name)} bytes`, { path })
      }
      const prefix = name.slice(0, -'data.pkl'.length)
      const order = zip.has(`${prefix}byteorder`) ? (await zip.read(`${prefix}byteorder`)).toString() : 'little'
      if (order !== 'little')
        throw new TrinityError('torch-file/order', `${path} was saved on a big-endian machine`, { path })
      return new TorchFile(path, readPickle(await zip.read(name), path), zip, prefix)
    } catch (error) {
      await zip.close()
      throw error
    }
  }

  /** The elements of a tensor, row after row, as bytes of its dtype; or only those from one to another. */
  async read(tensor: TorchTensor, range?: readonly [from: number, to: number]): Promise<Uint8Array> {
    const { path } = this
    const width = dtypeBytes[tensor.dtype]
    const size = tensor.shape.reduce((product, n) => product * n, 1)
    const reach = size === 0 ? 0 : tensor.shape.reduce((last, n, i) => last + (n - 1) * tensor.stride[i], 1)
    const name = `${this.#prefix}data/${tensor.storage}`
    if (!this.#zip.has(name))
      throw new TrinityError('torch-file/missing', `${path} has no storage ${tensor.storage}`, { path })
    const stored = this.#zip.sizeOf(name)
    if (!Number.isSafeInteger(size) || size > reach || (tensor.offset + reach) * width > stored) {
      const what = `[${tensor.shape}] of ${tensor.dtype} does not fit into a storage of ${stored} bytes`
      throw new TrinityError('torch-file/size', `${path}: ${what}`, { path })
    }
    const [from, to] = range ?? [0, size]
    if (isContiguous(tensor)) return this.#zip.readStored(name, (tensor.offset + from) * width, (to - from) * width)
    const all = await this.#zip.readStored(name, tensor.offset * width, reach * width)
    return gathered(all, tensor, width, size).subarray(from * width, to * width)
  }

  async close(): Promise<void> {
    await this.#zip.close()
  }
}

function isContiguous({ shape, stride }: TorchTensor): boolean {
  let expected = 1
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && stride[i] !== expected) return false
    expected *= shape[i]
  }
  return true
}

/** Elements that do not lie in order: transposed, or a part of each row. */
function gathered(bytes: Uint8Array, { shape, stride }: TorchTensor, width: number, size: number): Uint8Array {
  const out = new Uint8Array(size * width)
  const index = new Array<number>(shape.length).fill(0)
  let from = 0
  for (let to = 0; to < size; to++) {
    for (let byte = 0; byte < width; byte++) out[to * width + byte] = bytes[from * width + byte]
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += stride[axis]
      if (++index[axis] < shape[axis]) break
      from -= stride[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return out
}

/** A dictionary somewhere in what was saved; undefined where there is none. */
export function dictAt(root: PyValue, ...keys: string[]): ReadonlyMap<PyValue, PyValue> | undefined {
  let value: PyValue | undefined = root
  for (const key of keys)
    value = value instanceof Map ? value.get(key) : value instanceof PyObject ? value.get(key) : undefined
  return value instanceof Map ? value : undefined
}
