import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { architectureName, type Family } from '../architecture.js'
import { withFloats } from '../config-json.js'
import { ConfigReader } from '../config-reader.js'
import { endTokenIds } from './end-tokens.js'
import { architectures, familyNamed } from './family.js'
import { familyKeys } from './family-keys.js'
import type { GgufFile } from './file.js'
import type { GgufTensor } from './header.js'
import { ROUTER } from './names.js'
import { ropeKeys } from './rope-keys.js'
import { short } from './short.js'
import { tiedHead } from './tied-head.js'

/** The sizes that what a family has of its own depends on. */
export interface GgufSizes {
  readonly family: Family
  readonly layers: number
  readonly hiddenSize: number
  readonly heads: number
  readonly headDim: number
  readonly maxPositions: number
}

/** config.json of the model in a GGUF file, from its metadata. */
export async function ggufConfigJson(file: GgufFile): Promise<JsonObject> {
  const family = familyOf(file)
  const meta = metadataOf(file, architectures[family])
  const heads = meta.integer('attention.head_count', { min: 1 })
  const hiddenSize = meta.integer('embedding_length', { min: 1 })
  const sizes: GgufSizes = {
    family,
    heads,
    hiddenSize,
    layers: meta.integer('block_count', { min: 1, max: 4096 }),
    headDim: meta.integer('attention.key_length', { min: 2, fallback: Math.floor(hiddenSize / heads) }),
    maxPositions: meta.integer('context_length', { min: 1 }),
  }
  const has = (name: string) => file.tensors.has(name)
  const tied = await tiedHead(file)
  return withFloats({
    architectures: [architectureName(family, 'lm')],
    model_type: family,
    hidden_size: hiddenSize,
    intermediate_size: meta.integer('feed_forward_length', { min: 1 }),
    num_hidden_layers: sizes.layers,
    num_attention_heads: heads,
    num_key_value_heads: meta.integer('attention.head_count_kv', { min: 1, fallback: heads }),
    head_dim: sizes.headDim,
    vocab_size: file.tensor('token_embd.weight').shape[0],
    max_position_embeddings: sizes.maxPositions,
    rms_norm_eps: short(meta.positive('attention.layer_norm_rms_epsilon')),
    tie_word_embeddings: !has('output.weight') || tied !== undefined,
    ...(await ropeKeys(file, meta, sizes)),
    ...familyKeys(meta, sizes, { attention: has('blk.0.attn_q.bias'), mlp: has('blk.0.ffn_up.bias') }),
    ...tokenIds(file, new ConfigReader(Object.fromEntries(file.metadata) as JsonObject, file.path)),
    torch_dtype: dtypeOf(file, tied?.dropped.name),
  })
}

/** The keys of an architecture, without its name before them. */
function metadataOf({ metadata, path }: GgufFile, architecture: string): ConfigReader {
  const prefix = `${architecture}.`
  const own = [...metadata].filter(([key]) => key.startsWith(prefix))
  return new ConfigReader(Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value])), path)
}

function familyOf(file: GgufFile): Family {
  const architecture = file.metadata.get('general.architecture')
  const parts = file.metadata.get('split.count')
  if (typeof parts === 'number' && parts > 1) {
    throw new TrinityError('gguf/split', `${file.path} is one of ${parts} parts of a model`, {
      path: file.path,
      hint: 'join them with llama-gguf-split --merge, and give the result',
    })
  }
  const family = familyNamed.get(architecture as string)
  if (family) return family
  throw new TrinityError(
    'gguf/architecture',
    `${file.path} holds a model of the architecture '${String(architecture)}'`,
    {
      path: file.path,
      hint: `supported: ${[...familyNamed.keys()].join(', ')}`,
    },
  )
}

function tokenIds(file: GgufFile, meta: ConfigReader): JsonObject {
  const one = (name: string) => meta.tokenIds(`tokenizer.ggml.${name}_token_id`)
  const ends = endTokenIds(file, meta)
  return {
    bos_token_id: one('bos')[0] ?? null,
    eos_token_id: ends.length > 1 ? ends : (ends[0] ?? null),
    pad_token_id: one('padding')[0] ?? null,
  }
}

/** Name of the type of the matrices, without the one that is dropped; quantized ones are f32 once they are decoded. */
function dtypeOf(file: GgufFile, dropped: string | undefined): string {
  const isMatrix = ({ name, shape }: GgufTensor) => shape.length > 1 && !name.includes(ROUTER) && name !== dropped
  const matrices = [...file.tensors.values()].filter(isMatrix)
  const types = new Set(matrices.map(({ type }) => type.name))
  if (types.size !== 1) return 'float32'
  return types.has('F16') ? 'float16' : types.has('BF16') ? 'bfloat16' : 'float32'
}
