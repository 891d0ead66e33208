import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { isJsonObject, type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { nearest } from '../base/nearest.js'
import type { ModelHead } from './architecture.js'
import { type ModelConfig, parseModelConfig } from './config.js'
import { ConfigReader } from './config-reader.js'
import { ggufConfigJson } from './gguf/config.js'
import { GgufFile, isGguf } from './gguf/file.js'
import { GgufWeights } from './gguf/weights.js'
import { modelLayout } from './layout.js'
import { SafetensorsFile } from './safetensors.js'
import type { ElementRange, StoredTensor, TensorSource } from './tensor-source.js'
import { TorchWeights } from './torch-file/weights.js'

export interface OpenModelDirOptions {
  /** Head whose tensors must be there; default: the one that config.json names. `none`: the backbone is enough. */
  head?: ModelHead | 'none'
  /** Do not compare the tensors with what the architecture needs. */
  unchecked?: boolean
}

/** A Hugging Face model directory, or a GGUF file read as one: configuration, and tensors that are read when asked for. */
export class ModelDir {
  readonly path: string
  readonly config: ModelConfig
  /** config.json as it was read, to be written back with a checkpoint. */
  readonly configJson: JsonObject
  /** Tokens that end a generation: generation_config.json where it names them, else config.json. */
  readonly eosTokenIds: readonly number[]
  readonly #files: Map<string, TensorSource>

  constructor(path: string, config: ModelConfig, configJson: JsonObject, eos: number[], files: TensorSource[]) {
    this.path = path
    this.config = config
    this.configJson = configJson
    this.eosTokenIds = eos
    this.#files = new Map(
      files.flatMap((file) => [...file.tensors.keys()].map((name): [string, TensorSource] => [name, file])),
    )
  }

  tensorNames(): string[] {
    return [...this.#files.keys()]
  }

  hasTensor(name: string): boolean {
    return this.#files.has(name)
  }

  tensorInfo(name: string): StoredTensor {
    return this.#file(name).info(name)
  }

  /** A tensor as f32, into `target` where one is given. NaN or infinite weights are an error. */
  async readTensor(name: string, target?: Float32Array): Promise<Float32Array> {
    const file = this.#file(name)
    const values = await file.readFloat32(name, target)
    const bad = firstNonFinite(values)
    if (bad < 0) return values
    throw new TrinityError('model/non-finite', `tensor '${name}' holds ${values[bad]} at element ${bad}`, {
      path: file.path,
      hint: 'the checkpoint comes from a diverged run or was damaged; use an earlier one',
    })
  }

  /** A tensor's bytes as stored; or only those of some elements. */
  async readRaw(name: string, range?: ElementRange): Promise<StoredTensor & { data: Uint8Array }> {
    const file = this.#file(name)
    return { ...file.info(name), data: await file.readRaw(name, range) }
  }

  async close(): Promise<void> {
    for (const file of new Set(this.#files.values())) await file.close()
  }

  #file(name: string): TensorSource {
    const file = this.#files.get(name)
    if (file) return file
    const near = nearest(name, this.#files.keys())
    throw new TrinityError('model/missing-tensor', `${this.path} holds no tensor '${name}'`, {
      path: this.path,
      hint: near && `the nearest name is '${near}'`,
    })
  }
}

/** Opens a model directory and checks that its weights fit its configuration. */
export async function openModelDir(path: string, options: OpenModelDirOptions = {}): Promise<ModelDir> {
  const { config, json } = await readModelConfig(path)
  const eos = await readEosTokenIds(path, config)
  const files = isGguf(path) ? [await GgufWeights.open(path, config)] : await openWeights(path)
  const dir = new ModelDir(path, config, json, eos, files)
  try {
    if (!options.unchecked) {
      const head = options.head ?? config.head
      checkLayout(dir, head)
      if (head === 'lm' && config.tieEmbeddings) await checkTied(dir)
    }
    return dir
  } catch (error) {
    await Promise.all(files.map((file) => file.close()))
    throw error
  }
}

/** Only the configuration; the weights need not be there. */
export async function readModelConfig(path: string): Promise<{ config: ModelConfig; json: JsonObject }> {
  if (isGguf(path)) return readGgufConfig(path)
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isDirectory()) throw notModelFile(path)
  const file = join(path, 'config.json')
  const json = await readJsonObject(file, { keepNumbers: true })
  if (json) return { config: parseModelConfig(json, file), json }
  throw new TrinityError('model/missing', found ? `${path} has no config.json` : `there is no directory ${path}`, {
    path,
    hint: 'give a Hugging Face model directory: config.json, *.safetensors and tokenizer files',
  })
}

/** Somebody has named a file where a model is asked for. */
export function notModelFile(path: string): TrinityError {
  return new TrinityError('model/none', `${path} is a file`, { path, hint: 'give a model directory or a .gguf file' })
}

async function readGgufConfig(path: string): Promise<{ config: ModelConfig; json: JsonObject }> {
  const file = await GgufFile.open(path)
  try {
    const json = await ggufConfigJson(file)
    return { config: parseModelConfig(json, path), json }
  } finally {
    await file.close()
  }
}

/** Tokens that end a generation. The weights need not be there. */
export async function readEosTokenIds(path: string, config: ModelConfig): Promise<number[]> {
  if (isGguf(path)) return [...config.eosTokenIds]
  const file = join(path, 'generation_config.json')
  const json = await readJsonObject(file)
  const ids = json ? new ConfigReader(json, file).tokenIds('eos_token_id') : []
  return ids.length > 0 ? ids : [...config.eosTokenIds]
}

/** One file or an index of several, in one of the formats, as Transformers looks for them. */
const FORMATS = [
  { whole: 'model.safetensors', name: /^[^/\\\0]+\.safetensors$/, open: (path: string) => SafetensorsFile.open(path) },
  { whole: 'pytorch_model.bin', name: /^[^/\\\0]+\.bin$/, open: (path: string) => TorchWeights.open(path) },
] as const

/** Whether a folder holds weights in one of these formats, with a config.json or without. */
export async function hasWeights(path: string): Promise<boolean> {
  for (const { whole } of FORMATS) {
    for (const name of [whole, `${whole}.index.json`]) {
      if (await stat(join(path, name)).catch(() => undefined)) return true
    }
  }
  return false
}

/** The files of a folder's weights. */
export async function openWeights(path: string): Promise<TensorSource[]> {
  for (const format of FORMATS) {
    // A whole file counts more than an index that was left beside it, as in Transformers.
    const whole = await stat(join(path, format.whole)).then(
      (found) => found.isFile(),
      () => false,
    )
    const indexFile = join(path, `${format.whole}.index.json`)
    const index = whole ? undefined : await readJsonObject(indexFile)
    if (whole) return [await format.open(join(path, format.whole))]
    if (index) return openShards(path, index, indexFile, format)
  }
  throw new TrinityError('model/missing', `${path} has no ${FORMATS[0].whole}`, {
    path,
    hint: 'weights are safetensors or pytorch_model.bin; `trinity convert` makes them of checkpoints',
  })
}

async function openShards(
  path: string,
  index: JsonObject,
  indexFile: string,
  format: (typeof FORMATS)[number],
): Promise<TensorSource[]> {
  const names = shardNames(index, indexFile, format.name)
  const files: TensorSource[] = []
  try {
    for (const name of names) files.push(await format.open(join(path, name)))
    checkIndex(index, new Map(names.map((name, i) => [name, files[i]])), indexFile)
    return files
  } catch (error) {
    await Promise.all(files.map((file) => file.close()))
    const cause = error instanceof TrinityError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
    const isMissing = (cause ?? (error as NodeJS.ErrnoException)).code === 'ENOENT'
    if (!isMissing) throw error
    throw new TrinityError('model/missing', `${path} has no ${names[files.length]}`, {
      path,
      hint: `${indexFile} names it; download it`,
      cause,
    })
  }
}

function shardNames(index: JsonObject, path: string, allowed: RegExp): string[] {
  const map = index.weight_map
  if (!isJsonObject(map)) throw new TrinityError('model/index', `${path} has no weight_map`, { path })
  const names = [...new Set(Object.values(map))]
  for (const name of names) {
    // A shard lies beside its index: anything else could read files that are no part of the model.
    if (typeof name !== 'string' || !allowed.test(name)) {
      throw new TrinityError('model/index', `${path} names ${JSON.stringify(name)?.slice(0, 80)} as a weight file`, {
        path,
      })
    }
  }
  return (names as string[]).sort()
}

function checkIndex(index: JsonObject, files: Map<string, TensorSource>, path: string): void {
  for (const [tensor, file] of Object.entries(index.weight_map as Record<string, string>)) {
    if (!files.get(file)!.tensors.has(tensor)) {
      throw new TrinityError('model/index', `${path} says that ${file} holds '${tensor}', but it does not`, {
        path,
        hint: 'index and shards come from different checkpoints; download them again',
      })
    }
  }
  const seen = new Set<string>()
  for (const file of files.values()) {
    for (const name of file.tensors.keys()) {
      if (seen.has(name)) throw new TrinityError('model/index', `two shards hold '${name}'`, { path: file.path })
      seen.add(name)
    }
  }
}

function checkLayout(dir: ModelDir, head: ModelHead | 'none'): void {
  const missing: string[] = []
  for (const { name, shape, optional } of modelLayout(dir.config, head)) {
    if (!dir.hasTensor(name)) {
      if (!optional) missing.push(name)
      continue
    }
    const found = dir.tensorInfo(name)
    if (found.shape.length !== shape.length || found.shape.some((n, i) => n !== shape[i])) {
      throw new TrinityError(
        'model/shape',
        `tensor '${name}' is [${found.shape.join(', ')}], config.json asks for [${shape.join(', ')}]`,
        { path: dir.path, hint: 'configuration and weights come from different models' },
      )
    }
  }
  if (missing.length === 0) return
  const more = missing.length > 4 ? ` and ${missing.length - 4} more` : ''
  throw new TrinityError('model/missing-tensor', `missing tensors: ${missing.slice(0, 4).join(', ')}${more}`, {
    path: dir.path,
    hint: `the directory holds ${dir.tensorNames().length} tensors, such as ${dir.tensorNames().slice(0, 2).join(', ')}`,
  })
}

/** Releases of Transformers differ on a head that is said to be the embedding and is not: some tie it, some do not. */
async function checkTied(dir: ModelDir): Promise<void> {
  const names = ['model.embed_tokens.weight', 'lm_head.weight']
  if (!dir.hasTensor(names[1])) return
  const [embedding, head] = await Promise.all(names.map((name) => dir.readRaw(name)))
  if (embedding.dtype === head.dtype && Buffer.compare(embedding.data, head.data) === 0) return
  throw new TrinityError(
    'model/tied',
    "'lm_head.weight' is not 'model.embed_tokens.weight', although tie_word_embeddings is true",
    {
      path: dir.path,
      hint: 'set tie_word_embeddings to false in config.json, or remove lm_head.weight where the model is tied',
    },
  )
}

/** Index of the first NaN or infinity, −1 where all is well. x·0 is 0 for finite x only, so blocks need no branch. */
function firstNonFinite(values: Float32Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i] * 0
  return sum === 0 ? -1 : values.findIndex((value) => !Number.isFinite(value))
}
