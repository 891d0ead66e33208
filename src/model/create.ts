import { randomBytes } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import type { JsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { asFloats } from '../base/json-numbers.js'
import type { Family, ModelHead } from './architecture.js'
import { type ModelConfig, parseModelConfig } from './config.js'
import { modelConfigJson } from './config-json.js'
import type { FloatDtype } from './dtype.js'
import { traits } from './family.js'
import { Gaussian } from './gaussian.js'
import { modelLayout, parameterCount, type TensorSpec } from './layout.js'
import { type NewTokenizer, writeNewTokenizer } from './new-tokenizer.js'
import type { Rope } from './rope.js'
import type { TensorToWrite } from './safetensors-write.js'
import { saveModel } from './save.js'
import { Tokenizer } from './tokenizer.js'

/** The shape, the tokenizer and the place of a new model. */
export interface CreateModelOptions {
  /** Directory to make. Refused when it holds files, unless `force`. */
  out: string
  arch?: Family
  head?: ModelHead
  layers?: number
  hidden?: number
  heads?: number
  kvHeads?: number
  headDim?: number
  intermediate?: number
  /** Rows of the embedding; at least as many as the tokenizer has tokens, which is the default. */
  vocab?: number
  maxPositions?: number
  rope?: Rope
  tie?: boolean
  /** Outputs of a `sequence` or `token` head. */
  labels?: number
  tokenizer?: NewTokenizer
  /** Jinja source or a file that holds it. */
  chatTemplate?: string
  seed?: number
  dtype?: FloatDtype
  force?: boolean
}

/**
 * Makes a model directory with random weights and a tokenizer: what every loader of Hugging Face models reads.
 * @example
 * import { createModel } from 'trinity-rft/engine'
 *
 * const { parameters } = await createModel({ out: 'models/tiny', layers: 2, hidden: 32, heads: 2, seed: 1 })
 * console.log(parameters)
 */
export async function createModel(options: CreateModelOptions): Promise<{ config: ModelConfig; parameters: number }> {
  await refuseToOverwrite(options)
  const beside = `${options.out}.${randomBytes(4).toString('hex')}.tmp`
  try {
    await makeFolder(dirname(beside))
    await writeNewTokenizer(beside, options.tokenizer ?? { kind: 'bytes' }, options.chatTemplate)
    const config = newConfig(options, await Tokenizer.load(beside))
    const configJson = modelConfigJson(config)
    await writeJsonFile(join(beside, 'generation_config.json'), generationConfig(configJson))
    await saveModel(beside, { configJson, tensors: initialTensors(config, options.seed ?? 0) })
    if (options.force) await rm(options.out, { recursive: true, force: true })
    await rename(beside, options.out)
    return { config, parameters: parameterCount(config) }
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  }
}

async function refuseToOverwrite({ out, force }: CreateModelOptions): Promise<void> {
  const files = await readdir(out).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new TrinityError('cli/output', `cannot write to ${out}: ${error.message}`, { path: out, cause: error })
  })
  if (files.length === 0 || force) return
  throw new TrinityError('cli/output', `${out} is not empty`, {
    path: out,
    hint: 'choose another directory, or --force',
  })
}

/** Small by default: trains in seconds on any machine. Goes through the parser, which checks that the sizes fit. */
function newConfig(options: CreateModelOptions, tokenizer: Tokenizer): ModelConfig {
  const hidden = options.hidden ?? 128
  const heads = options.heads ?? 4
  const vocab = options.vocab ?? tokenizer.vocabSize
  if (vocab < tokenizer.vocabSize) {
    throw new TrinityError('cli/vocab', `a vocabulary of ${vocab} is too small for ${tokenizer.vocabSize} tokens`, {
      path: '--vocab',
      hint: 'leave it out, or give a larger one',
    })
  }
  const family = options.arch ?? 'llama'
  const layers = options.layers ?? 4
  const headDim = options.headDim ?? Math.floor(hidden / heads)
  const rope = options.rope ?? { theta: 10000, scaling: { type: 'default' } }
  const draft: ModelConfig = {
    architecture: '',
    family,
    head: options.head ?? 'lm',
    hiddenSize: hidden,
    layers,
    heads,
    kvHeads: options.kvHeads ?? heads,
    headDim,
    intermediateSize: options.intermediate ?? Math.ceil((hidden * 8) / 3 / 16) * 16,
    vocabSize: vocab,
    maxPositions: options.maxPositions ?? 1024,
    rmsEps: 1e-6,
    rope,
    tieEmbeddings: options.tie ?? false,
    qkvBias: family === 'qwen2',
    outBias: false,
    mlpBias: false,
    qkNorm: 'none',
    norms: 'before',
    unitNorms: false,
    fused: false,
    activation: 'silu',
    embedScale: 1,
    attentionScale: headDim ** -0.5,
    ...traits[family].gemma,
    experts:
      family === 'qwen3_moe'
        ? {
            count: 8,
            active: 2,
            inner: Math.ceil(hidden / 2 / 16) * 16,
            normalized: true,
            layers: [...Array(layers).keys()],
          }
        : undefined,
    labels: options.labels ?? 1,
    initRange: 0.02,
    dtype: options.dtype ?? 'F32',
    bosTokenId: tokenizer.bosId,
    eosTokenIds: tokenizer.eosId === undefined ? [] : [tokenizer.eosId],
    padTokenId: tokenizer.padId,
  }
  return parseModelConfig(modelConfigJson(draft), 'model new')
}

function initialTensors(config: ModelConfig, seed: number): TensorToWrite[] {
  return modelLayout(config).map((spec) => ({
    name: spec.name,
    shape: spec.shape,
    dtype: config.dtype ?? 'F32',
    data: () => initialValues(spec, config, seed),
  }))
}

/** As Transformers initializes: matrices normal with the configured width, norms so that they multiply by one, biases zero. */
export function initialValues(spec: TensorSpec, config: ModelConfig, seed: number): Float32Array {
  const values = new Float32Array(spec.shape.reduce((size, n) => size * n, 1))
  if (spec.kind === 'norm') return values.fill(config.unitNorms ? 0 : 1)
  if (spec.kind === 'bias') return values
  const noise = new Gaussian(seed, spec.name)
  for (let i = 0; i < values.length; i++) values[i] = noise.next() * config.initRange
  return values
}

function generationConfig({ bos_token_id, eos_token_id, pad_token_id }: JsonObject): JsonObject {
  const json = { bos_token_id, eos_token_id, pad_token_id, do_sample: true, temperature: 1, top_k: 0, top_p: 1 }
  return asFloats(json, new Set(['temperature', 'top_p']))
}
