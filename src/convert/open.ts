import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { ModelConfig } from '../model/config.js'
import { hasWeights, openModelDir, openWeights } from '../model/dir.js'
import type { StoredTensor } from '../model/tensor-source.js'
import { isDcp, readDcp } from './dcp.js'
import { isFsdp, openFsdp } from './fsdp.js'
import { fromMegatron, isMegatronName } from './megatron.js'
import { hasRanks, readRanks } from './megatron-ranks.js'
import type { Checkpoint, Piece, PieceTensor } from './pieces.js'

/** Folders inside an actor's that hold its weights, nearest first. */
const INSIDE = ['', 'dist_ckpt', 'model', join('model', 'dist_ckpt')]

/**
 * Opens the weights of a training run, whatever wrote them: shards of FSDP, torch.distributed.checkpoint, Megatron in both
 * layouts, or a Hugging Face directory (safetensors or `.bin`), with its config.json or without. Nothing in the files is executed. `config` is that of the
 * model; only Megatron needs it.
 */
export async function openCheckpoint(dir: string, config: () => Promise<ModelConfig>): Promise<Checkpoint> {
  for (const inside of INSIDE) {
    const path = join(dir, inside)
    if (await isFsdp(path)) return openFsdp(path)
    if (await isDcp(path)) return openDcp(path, config)
    if (await hasRanks(path)) {
      const { tensors, close } = await readRanks(path)
      const model = await config().catch(async (error) => {
        await close()
        throw error
      })
      return { path, kind: 'megatron, older layout', tensors: fromMegatron(tensors, model, path), close }
    }
  }
  if (await stat(join(dir, 'config.json')).catch(() => undefined)) return openDirectory(dir)
  if (await hasWeights(dir)) return openFiles(dir)
  throw new TrinityError('convert/unknown', `there are no weights in ${dir} that are known here`, {
    path: dir,
    hint: 'known: model_world_size_*_rank_*.pt, .metadata with *.distcp, mp_rank_*, pytorch_model.bin, and Hugging Face directories',
  })
}

async function openDcp(path: string, config: () => Promise<ModelConfig>): Promise<Checkpoint> {
  const found = await readDcp(path)
  const close = async () => {}
  if (found.some(({ name }) => isMegatronName(name))) {
    return { path, kind: 'megatron', tensors: fromMegatron(found, await config(), path), close }
  }
  const named = withoutPrefix(found.filter(({ name }) => !/^optim(izer)?\./.test(name)))
  return { path, kind: 'torch dcp', tensors: byName(named), close }
}

/** `{"model": model.state_dict()}` puts a name before all others. */
function withoutPrefix(tensors: readonly PieceTensor[]): PieceTensor[] {
  const embedding = tensors.find(({ name }) => name.endsWith('model.embed_tokens.weight'))
  const prefix = embedding?.name.slice(0, -'model.embed_tokens.weight'.length) ?? ''
  return tensors
    .filter(({ name }) => name.startsWith(prefix))
    .map((tensor) => ({ ...tensor, name: tensor.name.slice(prefix.length) }))
}

async function openDirectory(path: string): Promise<Checkpoint> {
  const dir = await openModelDir(path)
  const tensors = dir
    .tensorNames()
    .map((name) => whole(dir.tensorInfo(name), async (range) => (await dir.readRaw(name, range)).data))
  return { path, kind: 'hugging face', tensors: byName(tensors), close: () => dir.close() }
}

/** Weights that lie in a folder by themselves; config.json comes from elsewhere. */
async function openFiles(path: string): Promise<Checkpoint> {
  const files = await openWeights(path)
  const tensors = files.flatMap((file) =>
    [...file.tensors.values()].map((info) => whole(info, (range) => file.readRaw(info.name, range))),
  )
  const close = async () => {
    await Promise.all(files.map((file) => file.close()))
  }
  return { path, kind: 'weights', tensors: byName(tensors), close }
}

/** A tensor in one piece. */
function whole({ name, dtype, shape }: StoredTensor, read: Piece['read']): PieceTensor {
  return { name, dtype, shape, pieces: [{ offsets: shape.map(() => 0), sizes: shape, read }] }
}

const byName = (tensors: readonly PieceTensor[]) => new Map(tensors.map((tensor) => [tensor.name, tensor]))
