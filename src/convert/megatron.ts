import { TrinityError } from '../base/error.js'
import type { Family } from '../model/architecture.js'
import type { ModelConfig } from '../model/config.js'
import { layerTensor } from '../model/layout.js'
import { entryOf, type PieceTensor, rowsOf, stackedRows } from './pieces.js'

/** Names of Megatron may stand below one of these: the model of a run, or the first part of a virtual pipeline. */
const PREFIX = /^(?:(?:model\d*|module)\.)+/

const families: readonly Family[] = ['llama', 'mistral', 'qwen2', 'qwen3']

export function isMegatronName(name: string): boolean {
  return /^(decoder\.|embedding\.word_embeddings|output_layer\.)/.test(name.replace(PREFIX, ''))
}

/** The tensors of a Megatron GPT model as those of a Hugging Face model. `config` says how q, k and v lie together. */
export function fromMegatron(
  found: readonly PieceTensor[],
  config: ModelConfig,
  path: string,
): Map<string, PieceTensor> {
  if (!families.includes(config.family) || config.mlpBias) {
    throw new TrinityError('convert/megatron', `${path}: ${config.architecture} is not read from Megatron`, {
      path,
      hint: `supported: ${families.join(', ')}, without biases in the feed-forward part`,
    })
  }
  const own = new Map(found.map((tensor) => [tensor.name.replace(PREFIX, ''), tensor]))
  const out = new Map<string, PieceTensor>()
  const add = (tensor: PieceTensor) => out.set(tensor.name, tensor)
  const need = (...names: string[]): PieceTensor => {
    for (const name of names) {
      const tensor = own.get(name) ?? stacked(own, name)
      if (tensor) return tensor
    }
    throw new TrinityError('convert/megatron', `${path} has no ${names[0]}`, {
      path,
      hint: 'is it a checkpoint of the model that config.json describes, with every pipeline stage?',
    })
  }
  const whole = (name: string, ...names: string[]) => add({ ...need(...names), name })
  // The vocabulary is padded so that ranks get equal parts.
  const vocabulary = (name: string, from: string) => add(rowsOf(need(from), name, 0, config.vocabSize))
  vocabulary('model.embed_tokens.weight', 'embedding.word_embeddings.weight')
  for (let i = 0; i < config.layers; i++) {
    const at = `decoder.layers.${i}`
    const attention = `${at}.self_attention`
    whole(
      layerTensor(i, 'input_layernorm'),
      `${attention}.linear_qkv.layer_norm_weight`,
      `${at}.input_layernorm.weight`,
    )
    for (const what of config.qkvBias ? (['weight', 'bias'] as const) : (['weight'] as const)) {
      for (const part of splitHeads(need(`${attention}.linear_qkv.${what}`), config, i, what)) add(part)
    }
    if (config.qkNorm === 'head') {
      whole(layerTensor(i, 'q_norm'), `${attention}.q_layernorm.weight`)
      whole(layerTensor(i, 'k_norm'), `${attention}.k_layernorm.weight`)
    }
    whole(layerTensor(i, 'o_proj'), `${attention}.linear_proj.weight`)
    if (config.outBias) whole(layerTensor(i, 'o_proj', 'bias'), `${attention}.linear_proj.bias`)
    whole(
      layerTensor(i, 'post_attention_layernorm'),
      `${at}.mlp.linear_fc1.layer_norm_weight`,
      `${at}.pre_mlp_layernorm.weight`,
    )
    const both = need(`${at}.mlp.linear_fc1.weight`)
    add(rowsOf(both, layerTensor(i, 'gate_proj'), 0, both.shape[0] / 2))
    add(rowsOf(both, layerTensor(i, 'up_proj'), both.shape[0] / 2, both.shape[0]))
    whole(layerTensor(i, 'down_proj'), `${at}.mlp.linear_fc2.weight`)
  }
  whole('model.norm.weight', 'decoder.final_layernorm.weight')
  if (config.head === 'lm' && !config.tieEmbeddings) vocabulary('lm_head.weight', 'output_layer.weight')
  return out
}

/** Checkpoints of equal layers stack them: `decoder.layers.mlp…` has one entry for each. */
function stacked(own: ReadonlyMap<string, PieceTensor>, name: string): PieceTensor | undefined {
  const [, layer, rest] = /^decoder\.layers\.(\d+)\.(.+)$/.exec(name) ?? []
  const all = layer === undefined ? undefined : own.get(`decoder.layers.${rest}`)
  return all && Number(layer) < all.shape[0] ? entryOf(all, name, Number(layer)) : undefined
}

/** Rows lie group by group: the queries of a group, then its key, then its value. */
function splitHeads(qkv: PieceTensor, config: ModelConfig, layer: number, what: 'weight' | 'bias'): PieceTensor[] {
  const { heads, kvHeads, headDim } = config
  const queries = (heads / kvHeads) * headDim
  const group = queries + 2 * headDim
  const part = (name: 'q_proj' | 'k_proj' | 'v_proj', from: number, to: number) => {
    const own = layerTensor(layer, name, what)
    const groups = Array.from({ length: kvHeads }, (_, g) => rowsOf(qkv, own, g * group + from, g * group + to))
    return stackedRows(groups, own)
  }
  return [
    part('q_proj', 0, queries),
    part('k_proj', queries, queries + headDim),
    part('v_proj', queries + headDim, group),
  ]
}
