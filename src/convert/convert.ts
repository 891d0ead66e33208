import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import type { JsonObject } from '../base/file/json-file.js'
import type { ModelConfig } from '../model/config.js'
import { openModelDir, readModelConfig } from '../model/dir.js'
import type { FloatDtype } from '../model/dtype.js'
import { modelLayout } from '../model/layout.js'
import { openCheckpoint } from './open.js'
import type { Checkpoint } from './pieces.js'
import { saveCheckpoint } from './save.js'
import type { StepDir } from './steps.js'

/** How a checkpoint is written. */
export interface ConvertOptions {
  /** A model directory that config.json and tokenizer are taken from where the checkpoint has none. */
  readonly base?: string
  /** `keep`: as it was stored. Default BF16. */
  readonly dtype?: FloatDtype | 'keep'
  readonly shardBytes?: number
}

export interface ConvertOutcome {
  readonly path: string
  readonly result: 'converted' | 'finished' | 'failed'
  /** What it was, or why it failed. */
  readonly note: string
  readonly error?: TrinityError
}

/**
 * Turns the actor of each checkpoint into `actor/huggingface`: weights, config.json, tokenizer. Those that load already are left as they
 * are; one that fails does not keep the others from being converted.
 */
export async function convertSteps(steps: readonly StepDir[], options: ConvertOptions): Promise<ConvertOutcome[]> {
  const outcomes: ConvertOutcome[] = []
  for (const { path } of steps) {
    try {
      outcomes.push(await convertStep(path, options))
    } catch (error) {
      const known = error instanceof TrinityError ? error : undefined
      outcomes.push({ path, result: 'failed', note: messageOf(error), error: known })
    }
  }
  return outcomes
}

async function convertStep(path: string, options: ConvertOptions): Promise<ConvertOutcome> {
  const from = await actorOf(path)
  const out = join(from, 'huggingface')
  if (await isFinished(out)) return { path, result: 'finished', note: 'was whole already' }
  const note = await convertCheckpoint(from, out, { ...options, own: out })
  return { path, result: 'converted', note }
}

/**
 * Writes the checkpoint in `from` as a Hugging Face directory `out`. What kind it is is found out; config.json and tokenizer come
 * from it, from its `huggingface` folder, or from `base`.
 */
export async function convertCheckpoint(
  from: string,
  out: string,
  { base, dtype = 'BF16', shardBytes, own = join(from, 'huggingface') }: ConvertOptions & { readonly own?: string },
): Promise<string> {
  const places = [from, own, ...(base === undefined ? [] : [base])]
  const described = () => describedBy(places, from)
  // A folder with no shards may hold its weights as .bin.
  const source = (await hasConfig(own)) && !(await hasConfig(from)) && (await hasBin(own)) ? own : from
  const checkpoint = await openCheckpoint(source, async () => (await described()).config)
  try {
    const { config, json } = await described()
    checkTensors(checkpoint, config)
    const tensors = new Map(checkpoint.tensors)
    // A tied head is the embedding once more.
    if (config.tieEmbeddings) tensors.delete('lm_head.weight')
    await saveCheckpoint({ ...checkpoint, tensors }, { out, configJson: json, dtype, from: places, shardBytes })
    return `${checkpoint.kind}, ${tensors.size} tensors`
  } finally {
    await checkpoint.close()
  }
}

/**
 * Where the weights of a checkpoint are: below the folder of a step those of its actor, and of them a directory that loads already, if
 * there is one.
 */
export async function checkpointIn(path: string): Promise<string> {
  const from = await actorOf(path)
  const own = join(from, 'huggingface')
  return (await isFinished(own)) ? own : from
}

async function actorOf(path: string): Promise<string> {
  const actor = join(path, 'actor')
  return (await isDir(actor)) ? actor : path
}

async function describedBy(
  places: readonly string[],
  path: string,
): Promise<{ config: ModelConfig; json: JsonObject }> {
  for (const place of places) if (await hasConfig(place)) return readModelConfig(place)
  throw new TrinityError('convert/config', `${path} has no config.json`, {
    path,
    hint: 'give the directory of the model that was trained: --base-model-dir',
  })
}

/** Everything that the model needs is there, in its shape; nothing is said of what is there besides. */
function checkTensors({ tensors, path }: Checkpoint, config: ModelConfig): void {
  for (const { name, shape, optional } of modelLayout(config)) {
    const found = tensors.get(name)
    if (!found && optional) continue
    if (found && found.shape.join() === shape.join()) continue
    const what = found ? `has '${name}' as [${found.shape}], config.json asks for [${shape}]` : `has no '${name}'`
    throw new TrinityError('convert/model', `${path} ${what}`, { path, hint: 'config.json is that of another model' })
  }
}

async function isFinished(dir: string): Promise<boolean> {
  if (!(await hasConfig(dir)) || (await hasBin(dir))) return false
  return openModelDir(dir).then(
    async (model) => {
      await model.close()
      return true
    },
    () => false,
  )
}

const isDir = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false
const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false
const hasConfig = (dir: string): Promise<boolean> => isFile(join(dir, 'config.json'))

/** Weights of PyTorch and none as safetensors. */
async function hasBin(dir: string): Promise<boolean> {
  for (const name of ['model.safetensors', 'model.safetensors.index.json'])
    if (await isFile(join(dir, name))) return false
  return (await isFile(join(dir, 'pytorch_model.bin'))) || isFile(join(dir, 'pytorch_model.bin.index.json'))
}
