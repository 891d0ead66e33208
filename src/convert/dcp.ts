import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Dtype } from '../model/dtype.js'
import type { ElementRange } from '../model/tensor-source.js'
import { TorchFile } from '../model/torch-file/file.js'
import { PyGlobal, PyObject, type PyValue, readPickle } from '../model/torch-file/pickle.js'
import { asTensor, isCount, sizesOf } from '../model/torch-file/tensor.js'
import type { Piece, PieceTensor } from './pieces.js'

/** Descriptions of the largest checkpoints are some megabytes. */
const LONGEST_METADATA = 1 << 28

const dtypes: Readonly<Record<string, Dtype>> = {
  'torch.float64': 'F64',
  'torch.float32': 'F32',
  'torch.float16': 'F16',
  'torch.bfloat16': 'BF16',
  'torch.int64': 'I64',
  'torch.int32': 'I32',
  'torch.uint8': 'U8',
  'torch.bool': 'BOOL',
}

export async function isDcp(dir: string): Promise<boolean> {
  return (await stat(join(dir, '.metadata')).catch(() => undefined))?.isFile() ?? false
}

/** The tensors of a checkpoint of torch.distributed.checkpoint, under its own names. */
export async function readDcp(dir: string): Promise<PieceTensor[]> {
  const path = join(dir, '.metadata')
  if ((await stat(path)).size > LONGEST_METADATA) throw wrong(path, 'is too long')
  const root = readPickle(await readFile(path), path)
  const described = root instanceof PyObject ? root.get('state_dict_metadata') : undefined
  const stored = root instanceof PyObject ? root.get('storage_data') : undefined
  if (!(described instanceof Map) || !(stored instanceof Map)) throw wrong(path, 'does not describe a checkpoint')
  const places = placesOf(stored, path)
  const tensors: PieceTensor[] = []
  for (const [name, entry] of described) {
    const tensor = typeof name === 'string' ? tensorOf(name, entry, places, dir) : undefined
    if (tensor) tensors.push(tensor)
  }
  return tensors
}

interface Place {
  readonly file: string
  readonly offset: number
  readonly length: number
}

const keyOf = (name: string, offsets: readonly number[]): string => `${name}\n${offsets.join()}`

function placesOf(stored: Map<PyValue, PyValue>, path: string): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const [index, info] of stored) {
    if (!(index instanceof PyObject) || !(info instanceof PyObject))
      throw wrong(path, 'has a list of files that cannot be read')
    const [name, offset] = [index.get('fqn'), sizesOf(index.get('offset'))]
    const [file, from, length] = ['relative_path', 'offset', 'length'].map((key) => info.get(key))
    if (typeof name !== 'string') throw wrong(path, 'has an entry without a name')
    // A file lies beside the description: anything else could read what is no part of the checkpoint.
    if (typeof file !== 'string' || !/^[^/\\\0]+\.distcp$/.test(file)) {
      throw wrong(path, `names ${JSON.stringify(file)?.slice(0, 80)} as a file of the checkpoint`)
    }
    if (!isCount(from) || !isCount(length)) throw wrong(path, `has no place for '${name}'`)
    const packed = info.get('transform_descriptors')
    if (packed !== undefined && packed !== null) throw wrong(path, `has '${name}' in a packed form`)
    if (offset) places.set(keyOf(name, offset), { file, offset: from, length })
  }
  return places
}

function tensorOf(name: string, entry: PyValue, places: Map<string, Place>, dir: string): PieceTensor | undefined {
  if (!(entry instanceof PyObject) || !entry.type.endsWith('.TensorStorageMetadata')) return undefined
  const path = join(dir, '.metadata')
  const [shape, chunks, properties] = [sizesOf(entry.get('size')), entry.get('chunks'), entry.get('properties')]
  const dtype = dtypeOf(properties)
  if (!shape || !Array.isArray(chunks) || !dtype) throw wrong(path, `does not say what '${name}' is`)
  const pieces = chunks.map((chunk): Piece => {
    const [offsets, sizes] = chunk instanceof PyObject ? ['offsets', 'sizes'].map((key) => sizesOf(chunk.get(key))) : []
    const place = offsets && places.get(keyOf(name, offsets))
    if (!offsets || !sizes || !place) throw wrong(path, `does not say where a piece of '${name}' is`)
    return { offsets, sizes, read: (range) => readPiece(join(dir, place.file), place, { sizes, dtype, name, range }) }
  })
  return { name, dtype, shape, pieces }
}

/** The first of the properties: a state of its own, or (dtype, …) of a tuple. */
function dtypeOf(properties: PyValue | undefined): Dtype | undefined {
  if (!(properties instanceof PyObject)) return undefined
  const state = properties.state
  const value = properties.get('dtype') ?? (Array.isArray(state) ? state[0] : properties.args[0])
  return value instanceof PyGlobal ? dtypes[value.name] : undefined
}

/** Each piece is a file of torch.save inside a larger one. */
async function readPiece(
  path: string,
  place: Place,
  { sizes, dtype, name, range }: { sizes: readonly number[]; dtype: Dtype; name: string; range?: ElementRange },
): Promise<Uint8Array> {
  const file = await TorchFile.open(path, place)
  try {
    const tensor = asTensor(file.root, path)
    if (tensor && tensor.dtype === dtype && tensor.shape.join() === sizes.join()) return await file.read(tensor, range)
    throw wrong(path, `holds something else in the place of '${name}'`)
  } finally {
    await file.close()
  }
}

function wrong(path: string, what: string): TrinityError {
  return new TrinityError('convert/dcp', `${path} ${what}`, { path, hint: 'copy the checkpoint again' })
}
