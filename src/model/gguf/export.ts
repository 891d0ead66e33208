import { basename, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../config.js'
import { type ModelDir, openModelDir } from '../dir.js'
import { bytesOf } from '../safetensors.js'
import { contextOf, whyNot } from './family.js'
import { type FileType, typeOf } from './file-type.js'
import { modelMetadata } from './metadata.js'
import { ggufTensors, LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS } from './names.js'
import { quantize, type WritableType } from './quantize.js'
import { ropeFactors } from './rope-factors.js'
import { reordered, rowsOf } from './rows.js'
import { tokenizerMetadata } from './tokenizer-metadata.js'
import { isUnitNorm, shifted } from './unit-norms.js'
import { type GgufTensorToWrite, writeGguf } from './write.js'

/** How a GGUF file is written. */
export interface ExportOptions {
  readonly type: FileType
  /** `general.name`; default that of the folder. */
  readonly name?: string
}

/** Writes a model directory as a GGUF file for llama.cpp and Ollama. What is not as it was is returned, in words. */
export async function exportGguf(path: string, out: string, { type, name }: ExportOptions): Promise<string[]> {
  const dir = await openModelDir(path)
  try {
    const reason = whyNot(dir.config)
    if (reason !== undefined)
      throw new TrinityError('gguf/model', `${path} is ${dir.config.architecture}: ${reason}`, { path })
    const tokens = await tokenizerMetadata(dir)
    const metadata = new Map([...modelMetadata(dir.config, type, name ?? basename(resolve(path))), ...tokens.metadata])
    await writeGguf(out, metadata, [...rotationTensors(dir.config), ...weightTensors(dir, type)])
    return notesOf(dir.config, tokens.unnamed)
  } finally {
    await dir.close()
  }
}

function notesOf(config: ModelConfig, unnamed: readonly string[]): string[] {
  const notes = unnamed.map((token) => `GGUF names three end tokens: llama.cpp does not stop at ${token}`)
  const context = contextOf(config)
  if (context !== config.maxPositions) {
    notes.push(
      `llama.cpp has no windows in this family: the context is set to ${context} tokens, the window, up to which nothing differs`,
    )
  }
  return notes
}

function rotationTensors({ rope, headDim }: ModelConfig): GgufTensorToWrite[] {
  const { scaling } = rope
  const factors = (name: string, values: Float32Array): GgufTensorToWrite => ({
    name,
    type: 'F32',
    shape: [values.length],
    parts: [async () => bytesOf(values)],
  })
  if (scaling.type === 'llama3') return [factors(ROPE_FACTORS, ropeFactors(rope, headDim))]
  if (scaling.type !== 'longrope') return []
  return [
    factors(LONG_FACTORS, Float32Array.from(scaling.long)),
    factors(SHORT_FACTORS, Float32Array.from(scaling.short)),
  ]
}

function weightTensors(dir: ModelDir, type: FileType): GgufTensorToWrite[] {
  const { config } = dir
  const model = { layers: config.layers, tied: config.tieEmbeddings }
  // A tied head is the embedding once more; caches of the rotation are no weights.
  const left = new Set(dir.tensorNames().filter((name) => !name.endsWith('.rotary_emb.inv_freq')))
  if (config.tieEmbeddings) left.delete('lm_head.weight')
  const tensors: GgufTensorToWrite[] = []
  for (const [name, sources] of ggufTensors(config)) {
    if (!left.has(sources[0])) continue
    for (const source of sources) left.delete(source)
    const { shape } = dir.tensorInfo(sources[0])
    const whole = sources.length > 1 ? [sources.length, ...shape] : shape
    const to = typeOf(type, name, whole, model)
    tensors.push({ name, type: to, shape: whole, parts: sources.map((source) => () => encoded(dir, source, to)) })
  }
  for (const name of left)
    throw new TrinityError('gguf/tensor', `GGUF has no name for tensor '${name}'`, { path: dir.path })
  return tensors
}

/** The bytes of a tensor as llama.cpp wants them. */
async function encoded(dir: ModelDir, name: string, to: WritableType): Promise<Uint8Array> {
  const info = dir.tensorInfo(name)
  const same = info.dtype === to && !isUnitNorm(dir.config, name)
  const bytes = same ? (await dir.readRaw(name)).data : bytesOf(await dir.readTensor(name))
  const order = rowsOf(dir.config, info, 'to-gguf')
  const placed = shifted(dir.config, name, order ? reordered(bytes, order) : bytes, 1)
  return same ? placed : quantize(to, new Float32Array(placed.buffer, placed.byteOffset, placed.byteLength / 4))
}
