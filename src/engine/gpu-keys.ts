import { ENGINE_TREE_KEYS } from '../config/index.js'

const MODEL = [
  ...[
    'tensor_parallel_size',
    'data_parallel_size',
    'pipeline_parallel_size',
    'enable_expert_parallel',
    'enforce_eager',
  ],
  ...['gpu_memory_utilization', 'enable_chunked_prefill', 'extra_engine_args', 'weight_sync_buffer_size', 'base_port'],
  ...['enable_log_requests', 'enable_multimodal', 'enable_auto_tool_choice', 'trust_remote_code'],
]
const TRAINER = [
  ...['trainer_strategy', 'use_remove_padding', 'balance_batch', 'ulysses_sequence_parallel_size', 'param_offload'],
  ...['optimizer_offload', 'grad_offload', 'offload_policy', 'save_strategy', 'megatron'],
]

/** Keys that only engines on GPUs read. */
export const GPU_KEYS: readonly string[] = [
  'cluster.ray_address',
  'cluster.node_num',
  'cluster.gpu_per_node',
  'ray_namespace',
  'algorithm.enable_router_replay',
  'ignore_validator_suggestions',
  'model.trust_remote_code',
  'model.fully_sharded_loras',
  'model.max_cpu_loras',
  'monitor.enable_ray_timeline',
  'synchronizer.group_name',
  ...MODEL.map((key) => `explorer.rollout_model.${key}`),
  ...TRAINER.map((key) => `trainer.${key}`),
  ...ENGINE_TREE_KEYS,
]
