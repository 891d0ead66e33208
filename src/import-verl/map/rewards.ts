import { type Item, item } from '../draft.js'
import type { Value } from '../value.js'
import { expandHome, type Mapping } from './mapping.js'

export interface VerlRewardModel {
  prefix: string
  name?: string
  path: string
  tensorParallel: number
  /** GPUs of its own resource pool, which veRL adds to the trainer's nodes. */
  pool?: { nodes: number; gpusPerNode: number }
}

/** The reward models that are switched on, in every place veRL has had for them. */
export function readRewardModels(mapping: Mapping): VerlRewardModel[] {
  const models: VerlRewardModel[] = []
  const named = new Set(
    mapping.settings.values().flatMap(({ key }) => /^reward_model\.reward_models\.([^.]+)\./.exec(key)?.[1] ?? []),
  )
  const oldEnabled = mapping.bool('reward_model.enable') === true
  const newEnabled = mapping.bool('reward.reward_model.enable') === true
  const places = [
    ...(oldEnabled ? [...named].map((name) => ({ prefix: `reward_model.reward_models.${name}`, name })) : []),
    ...(oldEnabled && named.size === 0 ? [{ prefix: 'reward_model', name: undefined }] : []),
    ...(newEnabled ? [{ prefix: 'reward.reward_model', name: undefined }] : []),
  ]
  for (const { prefix, name } of places) {
    const path = mapping.path(`${prefix}.model.path`) ?? mapping.path(`${prefix}.model_path`)
    if (path === undefined) {
      mapping.notes.push(`${prefix} is enabled without a model path; it is left out`)
      continue
    }
    const tensorParallel = Math.max(
      1,
      Math.floor(mapping.number(`${prefix}.rollout.tensor_model_parallel_size`, 1).value),
    )
    models.push({ prefix, name, path: expandHome(path), tensorParallel, pool: readPool(mapping, prefix) })
  }
  return models
}

function readPool(mapping: Mapping, prefix: string): VerlRewardModel['pool'] {
  const parent = prefix.replace(/\.reward_models\.[^.]+$/, '')
  if (mapping.bool(`${parent}.enable_resource_pool`) !== true) return undefined
  const nodes = mapping.number(`${prefix}.nnodes`, 0).value
  const gpusPerNode = mapping.number(`${prefix}.n_gpus_per_node`, 8).value
  return nodes > 0 && gpusPerNode > 0 ? { nodes, gpusPerNode } : undefined
}

const ENGINE_KEYS: [from: string, to: string][] = [
  ['gpu_memory_utilization', 'gpu_memory_utilization'],
  ['dtype', 'dtype'],
  ['enforce_eager', 'enforce_eager'],
  ['enable_chunked_prefill', 'enable_chunked_prefill'],
  ['enable_prefix_caching', 'enable_prefix_caching'],
  ['max_model_len', 'max_model_len'],
  ['prompt_length', 'max_prompt_tokens'],
  ['response_length', 'max_response_tokens'],
]

/** Writes `explorer.auxiliary_models`, one entry per reward model. */
export function writeRewardModels(mapping: Mapping, models: VerlRewardModel[], engines: number[]): void {
  const items: Item[] = models.map((model, i) => {
    const rows: [string, Value | undefined, string?][] = [
      ['model_path', model.path, `${model.prefix}.model.path`],
      ['name', model.name],
      ['engine_num', engines[i]],
      ['tensor_parallel_size', model.tensorParallel, `${model.prefix}.rollout.tensor_model_parallel_size`],
    ]
    const engine = mapping.word(`${model.prefix}.rollout.name`)
    if (engine !== undefined && /^(vllm|sglang)/.test(engine)) {
      rows.push(['engine_type', engine.startsWith('sglang') ? 'sglang' : undefined, `${model.prefix}.rollout.name`])
    }
    const trust = mapping.bool(`${model.prefix}.model.trust_remote_code`)
    rows.push(['trust_remote_code', trust || undefined, `${model.prefix}.model.trust_remote_code`])
    for (const [from, to] of ENGINE_KEYS) {
      const key = `${model.prefix}.rollout.${from}`
      rows.push([to, mapping.take(key)?.value, key])
    }
    return item(rows)
  })
  if (items.length > 0) mapping.draft.list('explorer.auxiliary_models', items)
}
