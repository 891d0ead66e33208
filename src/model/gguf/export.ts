import { basename, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { Family } from '../architecture.js'
import { type ModelDir, openModelDir } from '../dir.js'
import { bytesOf } from '../safetensors.js'
import { type FileType, fileTypes, typeOf } from './file-type.js'
import { ggufNames, ROPE_FACTORS } from './names.js'
import { quantize } from './quantize.js'
import { ropeFactors } from './rope-factors.js'
import { reordered, rowsOf } from './rows.js'
import { tokenizerMetadata } from './tokenizer-metadata.js'
import { type Entry, type GgufTensorToWrite, writeGguf } from './write.js'

/** How a GGUF file is written. */
export interface ExportOptions {
  readonly type: FileType
  /** `general.name`; default that of the folder. */
  readonly name?: string
}

const families: readonly Family[] = ['llama', 'mistral', 'qwen2', 'qwen3']

/** Writes a model directory as a GGUF file for llama.cpp and Ollama. */
export async function exportGguf(path: string, out: string, { type, name }: ExportOptions): Promise<void> {
  const dir = await openModelDir(path)
  try {
    refuseUnsupported(dir)
    const metadata = new Map([
      ...modelMetadata(dir, type, name ?? basename(resolve(path))),
      ...(await tokenizerMetadata(path, dir.config)),
    ])
    await writeGguf(out, metadata, tensorsOf(dir, type))
  } finally {
    await dir.close()
  }
}

/** What llama.cpp would compute differently under the architectures that are written here. */
function refuseUnsupported({ config, path }: ModelDir): void {
  const { family, head, windows, unturned, rope } = config
  const reason =
    head !== 'lm'
      ? 'only language models become GGUF'
      : !families.includes(family)
        ? `supported: ${families.join(', ')}`
        : windows || unturned
          ? 'layers that see a window, or have no positions, cannot be said for it'
          : rope.scaling.type === 'yarn'
            ? 'a yarn rotation cannot be said for it'
            : undefined
  if (reason === undefined) return
  throw new TrinityError('gguf/model', `${path} is ${config.architecture}: ${reason}`, { path })
}

function modelMetadata({ config }: ModelDir, type: FileType, name: string): Map<string, Entry> {
  // llama.cpp computes Mistral as it computes Llama.
  const architecture = config.family === 'mistral' ? 'llama' : config.family
  const own = (entries: Record<string, Entry | undefined>) =>
    Object.entries(entries).flatMap(([key, entry]): [string, Entry][] =>
      entry ? [[`${architecture}.${key}`, entry]] : [],
    )
  const count = (value: number): Entry => ({ type: 'u32', value })
  const real = (value: number): Entry => ({ type: 'f32', value })
  const { scaling, theta } = config.rope
  return new Map<string, Entry>([
    ['general.architecture', { type: 'text', value: architecture }],
    ['general.type', { type: 'text', value: 'model' }],
    ['general.name', { type: 'text', value: name }],
    ['general.file_type', count(fileTypes[type].number)],
    ['general.quantization_version', count(2)],
    ...own({
      block_count: count(config.layers),
      context_length: count(config.maxPositions),
      embedding_length: count(config.hiddenSize),
      feed_forward_length: count(config.intermediateSize),
      'attention.head_count': count(config.heads),
      'attention.head_count_kv': count(config.kvHeads),
      'attention.key_length': count(config.headDim),
      'attention.value_length': count(config.headDim),
      'attention.layer_norm_rms_epsilon': real(config.rmsEps),
      vocab_size: count(config.vocabSize),
      'rope.dimension_count': count(config.headDim),
      'rope.freq_base': real(theta),
      'rope.scaling.type': scaling.type === 'linear' ? { type: 'text', value: 'linear' } : undefined,
      'rope.scaling.factor': scaling.type === 'linear' ? real(scaling.factor) : undefined,
    }),
  ])
}

function tensorsOf(dir: ModelDir, type: FileType): GgufTensorToWrite[] {
  const { config } = dir
  const names = ggufNames(config.layers)
  const model = { layers: config.layers, tied: config.tieEmbeddings }
  const tensors: GgufTensorToWrite[] = []
  if (config.rope.scaling.type === 'llama3') {
    const factors = ropeFactors(config.rope, config.headDim)
    tensors.push({ name: ROPE_FACTORS, type: 'F32', shape: [factors.length], data: async () => bytesOf(factors) })
  }
  for (const hf of dir.tensorNames()) {
    const name = names.get(hf)
    // A tied head is the embedding once more; caches of the rotation are no weights.
    if (hf === 'lm_head.weight' && config.tieEmbeddings) continue
    if (hf.endsWith('.rotary_emb.inv_freq')) continue
    if (name === undefined) {
      throw new TrinityError('gguf/tensor', `GGUF has no name for tensor '${hf}'`, { path: dir.path })
    }
    const { shape, dtype } = dir.tensorInfo(hf)
    const to = typeOf(type, name, shape, model)
    const order = rowsOf(config, dir.tensorInfo(hf), 'to-gguf')
    const data = async () => {
      const same = dtype === to
      const bytes = same ? (await dir.readRaw(hf)).data : bytesOf(await dir.readTensor(hf))
      const placed = order ? reordered(bytes, order) : bytes
      return same ? placed : quantize(to, new Float32Array(placed.buffer, placed.byteOffset, placed.byteLength / 4))
    }
    tensors.push({ name, type: to, shape, data })
  }
  return tensors
}
