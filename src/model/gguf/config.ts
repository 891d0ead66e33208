import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { architectureName, type Family } from '../architecture.js'
import { ConfigReader } from '../config-reader.js'
import { ropeScalingJson } from '../rope.js'
import type { GgufFile } from './file.js'
import { ROPE_FACTORS } from './names.js'
import { scalingOf } from './rope-factors.js'

const families: readonly string[] = ['llama', 'qwen2', 'qwen3']

/** config.json of the model in a GGUF file, from its metadata. */
export async function ggufConfigJson(file: GgufFile): Promise<JsonObject> {
  const family = familyOf(file)
  const meta = new ConfigReader(Object.fromEntries(file.metadata) as JsonObject, file.path)
  const key = (name: string) => `${family}.${name}`
  const heads = meta.integer(key('attention.head_count'), { min: 1 })
  const hidden = meta.integer(key('embedding_length'), { min: 1 })
  const headDim = meta.integer(key('attention.key_length'), { min: 2, fallback: Math.floor(hidden / heads) })
  const rotated = meta.integer(key('rope.dimension_count'), { min: 1, fallback: headDim })
  if (rotated !== headDim)
    throw meta.unsupported(`${rotated} of ${headDim} dimensions are rotated`, 'whole heads can be')
  if (meta.integer(key('expert_count'), { min: 0, fallback: 0 }) > 0) {
    throw meta.unsupported('a mixture of experts', `use a model without experts`)
  }
  const theta = short(meta.positive(key('rope.freq_base'), 10000))
  const has = (name: string) => file.tensors.has(name)
  return {
    architectures: [architectureName(family, 'lm')],
    model_type: family,
    hidden_size: hidden,
    intermediate_size: meta.integer(key('feed_forward_length'), { min: 1 }),
    num_hidden_layers: meta.integer(key('block_count'), { min: 1 }),
    num_attention_heads: heads,
    num_key_value_heads: meta.integer(key('attention.head_count_kv'), { min: 1, fallback: heads }),
    head_dim: headDim,
    vocab_size: file.tensor('token_embd.weight').shape[0],
    max_position_embeddings: meta.integer(key('context_length'), { min: 1 }),
    hidden_act: 'silu',
    rms_norm_eps: short(meta.positive(key('attention.layer_norm_rms_epsilon'))),
    rope_theta: theta,
    rope_scaling: await scalingJson(file, meta, { family, theta, headDim }),
    tie_word_embeddings: !has('output.weight'),
    ...(family === 'qwen2' ? {} : { attention_bias: has('blk.0.attn_q.bias') }),
    ...(family === 'llama' ? { mlp_bias: has('blk.0.ffn_up.bias') } : {}),
    ...tokenIds(meta),
    torch_dtype: dtypeOf(file),
  }
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
  if (families.includes(architecture as string)) return architecture as Family
  throw new TrinityError(
    'gguf/architecture',
    `${file.path} holds a model of the architecture '${String(architecture)}'`,
    {
      path: file.path,
      hint: `supported: ${families.join(', ')}`,
    },
  )
}

async function scalingJson(
  file: GgufFile,
  meta: ConfigReader,
  { family, theta, headDim }: { family: Family; theta: number; headDim: number },
): Promise<JsonObject | null> {
  if (file.tensors.has(ROPE_FACTORS)) {
    const scaling = scalingOf(await file.readFloat32(ROPE_FACTORS), theta, headDim)
    if (!scaling) throw meta.unsupported('factors of a rotation that are not those of Llama 3', 'use another file')
    return ropeScalingJson(scaling)
  }
  const type = meta.text(`${family}.rope.scaling.type`, 'none')
  if (type === 'none') return null
  if (type === 'linear') return { rope_type: type, factor: meta.positive(`${family}.rope.scaling.factor`) }
  throw meta.unsupported(`rope scaling '${type}'`, 'supported: none, linear, and the factors of Llama 3')
}

function tokenIds(meta: ConfigReader): JsonObject {
  const one = (name: string) => meta.tokenIds(`tokenizer.ggml.${name}_token_id`)
  const ends = [...new Set([...one('eos'), ...one('eot')])]
  return {
    bos_token_id: one('bos')[0] ?? null,
    eos_token_id: ends.length > 1 ? ends : (ends[0] ?? null),
    pad_token_id: one('padding')[0] ?? null,
  }
}

/** What the matrices are stored as; quantized ones are f32 once they are decoded. */
function dtypeOf(file: GgufFile): string {
  const types = new Set([...file.tensors.values()].filter(({ shape }) => shape.length > 1).map(({ type }) => type.name))
  if (types.size !== 1) return 'float32'
  return types.has('F16') ? 'float16' : types.has('BF16') ? 'bfloat16' : 'float32'
}

/** The shortest decimal number that is this f32: 0.00001 is stored as 0.000009999999747378752. */
function short(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits))
    if (Math.fround(candidate) === Math.fround(value)) return candidate
  }
  return value
}
