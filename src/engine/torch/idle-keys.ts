import type { IgnoredKeys } from '../../config/catalog.js'
import { type Config, ENGINE_TREE_KEYS } from '../../config/index.js'
import { UNREAD } from '../gpu-keys.js'
import { unreadArgs } from './sampler-args.js'

/** The keys of veRL's tree that this engine does read. */
const READ =
  /\.(use_torch_compile|use_cuda_graphs|actor_rollout_ref\.nccl_timeout|fsdp(_config)?\.(dtype|param_offload|optimizer_offload|offload_policy))$/

/** Keys that a training engine may read and this one does not: it packs, balances and shards in one way. */
export const TORCH_IDLE_KEYS: readonly string[] = [
  ...['use_remove_padding', 'balance_batch', 'grad_offload', 'save_strategy', 'megatron'].map(
    (key) => `trainer.${key}`,
  ),
  ...ENGINE_TREE_KEYS.filter((key) => !READ.test(key)),
]

/** `trainer_strategy: megatron` as well: the others mean what this engine does anyway. */
export function idleKeys({ trainer, explorer }: Config): readonly IgnoredKeys[] {
  const megatron = trainer.trainer_strategy === 'megatron' ? ['trainer.trainer_strategy'] : []
  const args = unreadArgs(explorer.rollout_model.extra_engine_args, 'explorer.rollout_model.extra_engine_args')
  return [
    { keys: [...megatron, ...TORCH_IDLE_KEYS], why: 'packs, balances and shards (FSDP2) by itself' },
    UNREAD,
    { keys: args, why: 'has no such argument' },
  ]
}
