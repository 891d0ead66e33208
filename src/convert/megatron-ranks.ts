import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { dictAt, TorchFile } from '../model/torch-file/file.js'
import { asTensor, type TorchTensor } from '../model/torch-file/tensor.js'
import type { Piece, PieceTensor } from './pieces.js'

const RANK = /^mp_rank_(\d+)(?:_(\d+))?$/
const FILES = ['model_optim_rng.pt', 'model_rng.pt', 'model.pt', 'distrib_optim.pt']

/** Whether a folder holds Megatron's older layout: `mp_rank_<tensor>_<pipeline>/model_optim_rng.pt`. */
export async function hasRanks(dir: string): Promise<boolean> {
  return (await readdir(dir).catch(() => [])).some((name) => RANK.test(name))
}

interface RankFile {
  readonly tensor: number
  readonly pipeline: number
  readonly file: TorchFile
  readonly tensors: ReadonlyMap<string, TorchTensor>
}

/** The tensors of all ranks under Megatron's names, with layers numbered through. */
export async function readRanks(dir: string): Promise<{ tensors: PieceTensor[]; close: () => Promise<void> }> {
  const ranks: RankFile[] = []
  const close = async () => void (await Promise.all(ranks.map(({ file }) => file.close())))
  try {
    for (const name of (await readdir(dir)).sort()) {
      const match = RANK.exec(name)
      if (match) ranks.push(await openRank(join(dir, name), Number(match[1]), Number(match[2] ?? 0)))
    }
    return { tensors: joined(dir, ranks), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openRank(dir: string, tensor: number, pipeline: number): Promise<RankFile> {
  const names = await readdir(dir)
  const name = FILES.find((one) => names.includes(one))
  if (name === undefined) throw new TrinityError('convert/megatron', `${dir} has no ${FILES[0]}`, { path: dir })
  const file = await TorchFile.open(join(dir, name))
  const tensors = new Map<string, TorchTensor>()
  for (const [key, value] of dictAt(file.root, 'model') ?? []) {
    const found = asTensor(value, file.path)
    if (typeof key === 'string' && found) tensors.set(key, found)
  }
  if (tensors.size > 0) return { tensor, pipeline, file, tensors }
  await file.close()
  throw new TrinityError('convert/megatron', `${file.path} holds no model`, {
    path: file.path,
    hint: 'of a virtual pipeline, or before Megatron core, it must be saved again as torch_dist',
  })
}

function joined(dir: string, ranks: readonly RankFile[]): PieceTensor[] {
  const stages = [...new Set(ranks.map(({ pipeline }) => pipeline))].sort((a, b) => a - b)
  const width = 1 + Math.max(...ranks.map(({ tensor }) => tensor))
  if (ranks.length !== width * stages.length || stages.at(-1) !== stages.length - 1) {
    throw new TrinityError('convert/ranks', `${dir} holds ${ranks.length} ranks, not ${width} × ${stages.length}`, {
      path: dir,
      hint: 'copy the folders of all ranks into one',
    })
  }
  const out: PieceTensor[] = []
  let before = 0
  for (const stage of stages) {
    const group = ranks.filter(({ pipeline }) => pipeline === stage).sort((a, b) => a.tensor - b.tensor)
    let layers = 0
    for (const name of group[0].tensors.keys()) {
      const layer = Number(/^decoder\.layers\.(\d+)\./.exec(name)?.[1] ?? -1)
      layers = Math.max(layers, layer + 1)
      const numbered = name.replace(/^decoder\.layers\.\d+\./, `decoder.layers.${layer + before}.`)
      out.push(
        across(
          numbered,
          group.map((rank) => partOf(rank, name)),
        ),
      )
    }
    before += layers
  }
  // A tied embedding stands at the first and at the last stage.
  return [...new Map(out.reverse().map((tensor) => [tensor.name, tensor])).values()]
}

interface Part {
  readonly file: TorchFile
  readonly tensor: TorchTensor
}

function partOf({ file, tensors }: RankFile, name: string): Part {
  const tensor = tensors.get(name)
  if (tensor) return { file, tensor }
  throw new TrinityError('convert/megatron', `${file.path} has no '${name}', which another rank has`, {
    path: file.path,
  })
}

/** How ranks of tensor parallelism divide a tensor, by its name. */
function across(name: string, parts: readonly Part[]): PieceTensor {
  const [{ tensor }] = parts
  const read =
    ({ file, tensor }: Part): Piece['read'] =>
    (range) =>
      file.read(tensor, range)
  const { dtype, shape } = tensor
  if (/layer_?norm/.test(name) || parts.length === 1) {
    return { name, dtype, shape, pieces: [{ offsets: shape.map(() => 0), sizes: shape, read: read(parts[0]) }] }
  }
  if (/linear_fc1\.weight$/.test(name)) return gateAndUp(name, parts)
  const axis = /(linear_proj|linear_fc2)\.weight$/.test(name) ? 1 : 0
  if (/(linear_proj|linear_fc2)\.bias$/.test(name)) {
    return { name, dtype, shape, pieces: [{ offsets: [0], sizes: shape, read: read(parts[0]) }] }
  }
  let at = 0
  const pieces = parts.map((part): Piece => {
    const offsets = shape.map((_, i) => (i === axis ? at : 0))
    at += part.tensor.shape[axis]
    return { offsets, sizes: part.tensor.shape, read: read(part) }
  })
  return { name, dtype, shape: shape.map((n, i) => (i === axis ? at : n)), pieces }
}

/** Every rank has its rows of the gate, then its rows of what is gated. */
function gateAndUp(name: string, parts: readonly Part[]): PieceTensor {
  const [{ tensor }] = parts
  const [rows, width] = tensor.shape
  const half = rows / 2
  const pieces = parts.flatMap(({ file, tensor: own }, rank): Piece[] =>
    [0, 1].map((side) => ({
      offsets: [side * half * parts.length + rank * half, 0],
      sizes: [half, width],
      read: (range) =>
        file.read({ ...own, shape: [half, width], offset: own.offset + side * half * own.stride[0] }, range),
    })),
  )
  return { name, dtype: tensor.dtype, shape: [rows * parts.length, width], pieces }
}
