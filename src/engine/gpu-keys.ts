import type { IgnoredKeys } from '../config/catalog.js'
import { ENGINE_TREE_KEYS } from '../config/index.js'

/** Keys of a model that belong to servers of other projects. */
const SERVER = [
  ...['dtype', 'enable_expert_parallel', 'enable_chunked_prefill', 'weight_sync_buffer_size', 'base_port'],
  ...[
    'base_url',
    'api_key',
    'enable_log_requests',
    'enable_multimodal',
    'enable_auto_tool_choice',
    'trust_remote_code',
  ],
]

/** Keys that no engine of this version reads: they belong to code that comes with a model, or to servers. */
const UNREAD_KEYS: readonly string[] = [
  'algorithm.enable_router_replay',
  'ignore_validator_suggestions',
  'model.trust_remote_code',
  'model.fully_sharded_loras',
  'model.max_cpu_loras',
  'synchronizer.group_name',
  ...SERVER.map((key) => `explorer.rollout_model.${key}`),
]

const MODEL = [
  ...['tensor_parallel_size', 'data_parallel_size', 'pipeline_parallel_size'],
  ...['enforce_eager', 'gpu_memory_utilization', 'extra_engine_args'],
]
const TRAINER = [
  ...['trainer_strategy', 'use_remove_padding', 'balance_batch', 'ulysses_sequence_parallel_size', 'param_offload'],
  ...['optimizer_offload', 'grad_offload', 'offload_policy', 'save_strategy', 'megatron', 'exact_logprobs'],
]

/** Keys that only engines on GPUs read. */
export const GPU_KEYS: readonly string[] = [
  'cluster.node_num',
  'cluster.gpu_per_node',
  ...MODEL.map((key) => `explorer.rollout_model.${key}`),
  ...TRAINER.map((key) => `trainer.${key}`),
  ...ENGINE_TREE_KEYS,
]

export const UNREAD: IgnoredKeys = { keys: UNREAD_KEYS, why: 'does not read it' }

/** Keys of those whose workers Ray may place; `cluster.ray_address` is read by `trinity run --ray` as well. */
const RAY_KEYS = ['ray_namespace', 'monitor.enable_ray_timeline']

/** What an engine without GPUs does not read. */
export const OFF_GPU: readonly IgnoredKeys[] = [
  { keys: GPU_KEYS, why: 'uses no GPU' },
  { keys: RAY_KEYS, why: 'has no workers for Ray to place' },
  UNREAD,
]
