import type { Config } from '../../config/index.js'

const PARTS = ['use_prefix_grouper', 'entropy_from_logits_with_chunking', 'entropy_checkpointing', 'router_replay']
const MODEL = ['use_shm', 'use_fused_kernels', 'fused_kernel_options', 'enable_activation_offload', 'external_lib']
const TRAINED = [...PARTS, 'checkpoint', 'profiler', 'profile', 'load_weight', 'megatron', 'freeze_vision_tower']
const FSDP = ['reshard_after_forward', 'wrap_policy', 'fsdp_size', 'forward_prefetch', 'model_dtype', 'forward_only']

/** Keys that a training engine may read and this one does not: it packs, balances and shards in one way. */
export const TORCH_IDLE_KEYS: readonly string[] = [
  ...['use_remove_padding', 'balance_batch', 'grad_offload', 'save_strategy', 'megatron'],
  'trainer_config.actor_rollout_ref.nccl_timeout',
  ...[...MODEL, 'override_config', 'mtp', 'tiled_mlp'].map((key) => `trainer_config.actor_rollout_ref.model.${key}`),
  ...TRAINED.map((key) => `trainer_config.actor_rollout_ref.actor.${key}`),
  ...PARTS.map((key) => `trainer_config.actor_rollout_ref.ref.${key}`),
  ...TRAINED.filter((key) => key !== 'freeze_vision_tower').map((key) => `trainer_config.critic.${key}`),
  ...['actor_rollout_ref.actor', 'actor_rollout_ref.ref', 'critic'].flatMap((part) =>
    FSDP.map((key) => `trainer_config.${part}.fsdp_config.${key}`),
  ),
].map((key) => `trainer.${key}`)

/** `trainer_strategy: megatron` as well: the others mean what this engine does anyway. */
export function idleKeys({ trainer }: Config): { keys: readonly string[]; why: string } {
  const megatron = trainer.trainer_strategy === 'megatron' ? ['trainer.trainer_strategy'] : []
  return { keys: [...megatron, ...TORCH_IDLE_KEYS], why: 'packs, balances and shards (FSDP2) by itself' }
}
