import { randomBytes } from 'node:crypto'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import type { JsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'
import { unlessInterrupted } from '../base/file/unfinished.js'
import { writeModelConfig } from '../model/config-json.js'
import { dtypeBytes, dtypeName, type FloatDtype } from '../model/dtype.js'
import { type TensorToWrite, writeSafetensors } from '../model/safetensors-write.js'
import { copyTokenizer } from '../model/tokenizer-save.js'
import { assemble, type Checkpoint, count, writtenDtype } from './pieces.js'
import { takePlace } from './target.js'

export interface SaveOptions {
  readonly out: string
  readonly configJson: JsonObject
  /** `keep`: as it was stored. */
  readonly dtype: FloatDtype | 'keep'
  /** Directories that tokenizer files are taken from; the first that has any. */
  readonly from: readonly string[]
  /** Bytes of a file of weights. */
  readonly shardBytes?: number
}

/** As Transformers divides models. */
const SHARD_BYTES = 5e9

/** Writes a checkpoint as a Hugging Face directory, tensor by tensor; the directory appears, or is replaced, when it is whole. */
export async function saveCheckpoint(checkpoint: Checkpoint, options: SaveOptions): Promise<void> {
  const mark = randomBytes(4).toString('hex')
  const beside = `${options.out}.${mark}.tmp`
  await inWords(makeFolder(beside))
  try {
    await unlessInterrupted(beside, () => writeDirectory(checkpoint, beside, options))
    await takePlace(beside, options.out, mark)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  }
}

async function writeDirectory(checkpoint: Checkpoint, dir: string, options: SaveOptions): Promise<void> {
  const { dtype } = options
  for (const from of options.from) {
    const copied = await copyTokenizer(from, dir)
    await copyFile(join(from, 'generation_config.json'), join(dir, 'generation_config.json')).catch(() => {})
    if (copied.length > 0) break
  }
  await writeWeights(checkpoint, dir, options)
  const named = dtype === 'keep' ? {} : { torch_dtype: dtypeName[dtype] }
  const { dtype: _, ...json } = options.configJson
  await writeModelConfig(dir, { ...(dtype === 'keep' ? options.configJson : json), ...named })
}

async function writeWeights(
  checkpoint: Checkpoint,
  dir: string,
  { dtype, shardBytes = SHARD_BYTES }: SaveOptions,
): Promise<void> {
  const tensors = [...checkpoint.tensors.values()].map((tensor): TensorToWrite & { bytes: number } => {
    const own = writtenDtype(tensor.dtype, dtype)
    const data = () => assemble(tensor, own, checkpoint.path)
    return { name: tensor.name, dtype: own, shape: tensor.shape, bytes: count(tensor.shape) * dtypeBytes[own], data }
  })
  const shards = divided(tensors, shardBytes)
  if (shards.length === 1) return writeSafetensors(join(dir, 'model.safetensors'), tensors)
  const digits = (n: number) => String(n).padStart(5, '0')
  const map: Record<string, string> = {}
  for (const [i, shard] of shards.entries()) {
    const name = `model-${digits(i + 1)}-of-${digits(shards.length)}.safetensors`
    await writeSafetensors(join(dir, name), shard)
    for (const tensor of shard) map[tensor.name] = name
  }
  const total = tensors.reduce((sum, { bytes }) => sum + bytes, 0)
  await writeJsonFile(join(dir, 'model.safetensors.index.json'), { metadata: { total_size: total }, weight_map: map })
}

/** In order, as many as fit; a tensor that is larger than a file has one of its own. */
function divided<T extends { bytes: number }>(tensors: readonly T[], most: number): T[][] {
  const shards: T[][] = [[]]
  let filled = 0
  for (const tensor of tensors) {
    if (filled > 0 && filled + tensor.bytes > most) {
      shards.push([])
      filled = 0
    }
    shards.at(-1)!.push(tensor)
    filled += tensor.bytes
  }
  return shards
}
