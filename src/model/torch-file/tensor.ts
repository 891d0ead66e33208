import { TrinityError } from '../../base/error.js'
import type { Dtype } from '../dtype.js'
import { PERSISTENT, PyGlobal, PyObject, type PyValue } from './pickle.js'

/** A tensor of a PyTorch file: which part of which storage it is. */
export interface TorchTensor {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  /** In elements. */
  readonly stride: readonly number[]
  readonly offset: number
  /** Name of the storage in its file. */
  readonly storage: string
}

const storages: Readonly<Record<string, Dtype>> = {
  DoubleStorage: 'F64',
  FloatStorage: 'F32',
  HalfStorage: 'F16',
  BFloat16Storage: 'BF16',
  LongStorage: 'I64',
  IntStorage: 'I32',
  ShortStorage: 'I16',
  CharStorage: 'I8',
  ByteStorage: 'U8',
  BoolStorage: 'BOOL',
}

/** What a value of a state dict holds; undefined where it is no tensor. */
export function asTensor(value: PyValue | undefined, path: string): TorchTensor | undefined {
  if (!(value instanceof PyObject)) return undefined
  if (/^torch\._utils\._rebuild_parameter/.test(value.type)) return asTensor(value.args[0], path)
  // Subclasses (rebuilt by a function, with a class, from arguments) are tensors of their own kind where that function is.
  if (value.type === 'torch._tensor._rebuild_from_type_v2') {
    const [rebuild, , args] = value.args
    if (!(rebuild instanceof PyGlobal) || !Array.isArray(args)) return undefined
    return asTensor(new PyObject(rebuild.name, args), path)
  }
  if (!/^torch\._utils\._rebuild_tensor(_v2)?$/.test(value.type)) return undefined
  const [storage, offset, shape, stride] = value.args
  const { dtype, key } = storageOf(storage, path)
  if (!isCount(offset) || !isCounts(shape) || !isCounts(stride) || shape.length !== stride.length) {
    throw new TrinityError('torch-file/tensor', `${path} describes a tensor that cannot be`, { path })
  }
  return { dtype, shape, stride, offset, storage: key }
}

/** ('storage', torch.FloatStorage, '0', 'cpu', 16384) */
function storageOf(value: PyValue, path: string): { dtype: Dtype; key: string } {
  const parts = value instanceof PyObject && value.type === PERSISTENT ? value.args[0] : undefined
  const [kind, type, key] = Array.isArray(parts) ? parts : []
  const name = type instanceof PyGlobal ? type.name.replace(/^torch\./, '') : ''
  if (kind === 'storage' && typeof key === 'string' && Object.hasOwn(storages, name))
    return { dtype: storages[name], key }
  throw new TrinityError('torch-file/storage', `${path} holds a tensor of ${name || 'an unknown storage'}`, {
    path,
    hint: 'save it with another dtype, or use the safetensors version',
  })
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isCount)
}

/** Sizes as a list, or as torch.Size(list). */
export function sizesOf(value: PyValue | undefined): number[] | undefined {
  const list = value instanceof PyObject && value.type === 'torch.Size' ? value.args[0] : value
  return isCounts(list) ? list : undefined
}
