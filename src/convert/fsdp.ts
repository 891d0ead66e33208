import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { TorchFile } from '../model/torch-file/file.js'
import { PyObject, type PyValue } from '../model/torch-file/pickle.js'
import { asTensor, isCounts, sizesOf, type TorchTensor } from '../model/torch-file/tensor.js'
import { type Checkpoint, count, type Piece, type PieceTensor } from './pieces.js'

const SHARD = /^model_world_size_(\d+)_rank_(\d+)\.pt$/

/** Whether a folder holds what veRL writes with FSDP: one file of every rank. */
export async function isFsdp(dir: string): Promise<boolean> {
  return (await namesIn(dir)).some((name) => SHARD.test(name))
}

/** Opens `model_world_size_<n>_rank_<r>.pt` of every rank. */
export async function openFsdp(dir: string): Promise<Checkpoint> {
  const files: TorchFile[] = []
  const close = async () => void (await Promise.all(files.map((file) => file.close())))
  try {
    for (const name of await shardNames(dir)) files.push(await TorchFile.open(join(dir, name)))
    const tensors = new Map<string, PieceTensor>()
    for (const name of namesOf(files[0])) tensors.set(name, tensorOf(name, files))
    return { path: dir, kind: `fsdp, ${files.length} ranks`, tensors, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function shardNames(dir: string): Promise<string[]> {
  const found = (await namesIn(dir)).flatMap((name) => {
    const match = SHARD.exec(name)
    return match ? [{ name, world: Number(match[1]), rank: Number(match[2]) }] : []
  })
  const worlds = new Set(found.map(({ world }) => world))
  if (worlds.size !== 1) {
    throw new TrinityError('convert/ranks', `${dir} holds shards of runs with ${[...worlds].join(' and ')} ranks`, {
      path: dir,
      hint: 'keep the files of one run',
    })
  }
  const [world] = worlds
  const ranks = new Map(found.map((one) => [one.rank, one.name]))
  // The names count, not the number in them: a file may claim any.
  const missing =
    found.length === world
      ? []
      : Array.from({ length: Math.min(world, found.length + 1) }, (_, i) => i).filter((i) => !ranks.has(i))
  if (found.length !== world || ranks.size !== world || [...ranks.keys()].some((rank) => rank >= world)) {
    const which = missing.length > 0 ? `: that of rank ${missing[0]} is missing` : ''
    throw new TrinityError('convert/ranks', `${dir} holds ${found.length} of ${world} shards${which}`, {
      path: dir,
      hint: 'copy the files of all ranks into one folder',
    })
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ name }) => name)
}

function namesOf(file: TorchFile): string[] {
  if (file.root instanceof Map) return [...file.root.keys()].filter((name) => typeof name === 'string')
  throw new TrinityError('convert/fsdp', `${file.path} holds no dictionary of tensors`, { path: file.path })
}

interface Shard {
  readonly file: TorchFile
  readonly local: TorchTensor
  /** Of the whole tensor; absent where every rank has all of it. */
  readonly shape?: readonly number[]
  /** Dimension that each axis of the mesh divides; undefined: it repeats. */
  readonly placements: readonly (number | undefined)[]
  /** Where this rank is in the mesh. */
  readonly coordinate: readonly number[]
}

function tensorOf(name: string, files: readonly TorchFile[]): PieceTensor {
  const shards = files.map((file, rank) => shardOf(file, name, rank))
  const [{ local, shape = local.shape, placements }] = shards
  const mesh = placements.map((_, axis) => 1 + Math.max(...shards.map(({ coordinate }) => coordinate[axis])))
  const seen = new Set<string>()
  const pieces = shards.flatMap((shard): Piece[] => {
    const offsets = offsetsOf(shard, shape, mesh)
    const sizes = shard.local.shape
    const key = offsets.join()
    if (seen.has(key) || count(sizes) === 0) return []
    seen.add(key)
    return [{ offsets, sizes, read: (range) => shard.file.read(shard.local, range) }]
  })
  return { name, dtype: local.dtype, shape, pieces }
}

/** As torch.chunk divides: every part but the last ones is ⌈n / parts⌉. */
function offsetsOf({ placements, coordinate }: Shard, shape: readonly number[], mesh: readonly number[]): number[] {
  const offsets = shape.map(() => 0)
  const sizes = [...shape]
  for (const [axis, dim] of placements.entries()) {
    if (dim === undefined) continue
    const part = Math.ceil(sizes[dim] / mesh[axis])
    const from = Math.min(sizes[dim], part * coordinate[axis])
    offsets[dim] += from
    sizes[dim] = Math.min(part, sizes[dim] - from)
  }
  return offsets
}

function shardOf(file: TorchFile, name: string, rank: number): Shard {
  const value = file.root instanceof Map ? file.root.get(name) : undefined
  const plain = asTensor(value, file.path)
  if (plain) return { file, local: plain, placements: [], coordinate: [] }
  // (function, class, arguments, state), where the state of a class with slots is (nothing, attributes)
  const given = value instanceof PyObject ? value.args[3] : undefined
  const state = Array.isArray(given) ? given.find((part) => part instanceof Map) : given
  const [local, spec] =
    state instanceof Map ? [asTensor(state.get('_local_tensor'), file.path), state.get('_spec')] : []
  const wrong = (what: string) =>
    new TrinityError('convert/fsdp', `${file.path}: tensor '${name}' ${what}`, { path: file.path })
  if (!local) throw wrong('is missing, or no tensor that can be read')
  const meta = spec instanceof PyObject ? spec.get('tensor_meta') : undefined
  const shape = meta instanceof PyObject ? (sizesOf(meta.args[0]) ?? sizesOf(meta.get('shape'))) : undefined
  const listed = spec instanceof PyObject ? spec.get('placements') : undefined
  const mesh = spec instanceof PyObject ? spec.get('mesh') : undefined
  if (!shape || !Array.isArray(listed) || shape.length !== local.shape.length)
    throw wrong('does not say how it was divided')
  const placements = listed.map((placement) => dimensionOf(placement, shape.length, wrong))
  const coordinate = mesh instanceof PyObject ? mesh.get('_coordinate_on_dim') : undefined
  if (isCounts(coordinate) && coordinate.length === placements.length)
    return { file, local, shape, placements, coordinate }
  if (placements.length === 1) return { file, local, shape, placements, coordinate: [rank] }
  throw wrong('does not say where in the mesh its rank is')
}

function dimensionOf(
  placement: PyValue,
  dimensions: number,
  wrong: (what: string) => TrinityError,
): number | undefined {
  const type = placement instanceof PyObject ? placement.type.split('.').at(-1) : undefined
  if (type === 'Replicate') return undefined
  const dim = placement instanceof PyObject ? (placement.get('dim') ?? placement.args[0]) : undefined
  if (type === 'Shard' && typeof dim === 'number' && dim >= 0 && dim < dimensions) return dim
  throw wrong(`is placed as ${type ?? 'something unknown'}`)
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => [])
}
