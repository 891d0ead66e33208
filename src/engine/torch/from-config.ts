import { TrinityError } from '../../base/error.js'
import type { LogDir } from '../../base/log/logger.js'
import type { Config } from '../../config/index.js'
import type { TorchModelOptions, TorchOptions } from './options.js'

type Tree = Readonly<Record<string, unknown>>

/** What a configuration says about the torch engine: `trainer`, `cluster`, and veRL's tree below trainer_config. */
export function torchOptions(config: Config, logs?: LogDir): TorchOptions {
  const { trainer, cluster, explorer } = config
  if (cluster.trainer_node_num > 1) {
    throw new TrinityError('config/engine', `the trainer spans ${cluster.trainer_node_num} machines`, {
      path: 'cluster.node_num',
      hint: 'the torch engine uses the GPUs of one machine: set cluster.node_num to 1',
    })
  }
  const [actor, ref, critic] = ['actor_rollout_ref.actor', 'actor_rollout_ref.ref', 'critic'].map((key) => ({
    key: `trainer.trainer_config.${key}`,
    tree: child(trainer.trainer_config as Tree, key),
  }))
  return {
    devices: Math.max(1, cluster.trainer_gpu_num),
    samplers: samplersApart(config),
    policy: modelOptions(config, actor.tree, actor.key),
    reference: modelOptions(config, ref.tree, ref.key),
    critic: modelOptions(config, critic.tree, critic.key),
    memoryFraction: explorer.rollout_model.gpu_memory_utilization,
    eager: explorer.rollout_model.enforce_eager,
    exact: flag((explorer.rollout_model.extra_engine_args as Tree | null)?.batch_invariant),
    shareStorage: alternates(config),
    log: logs && logLines(logs),
  }
}

/** Samplers with processes of their own, where the plan gives rollout and trainer different GPUs. */
function samplersApart({ mode, cluster, explorer }: Config): number {
  const { engine_type, engine_num, gpu_per_engine } = explorer.rollout_model
  if (mode === 'train' || engine_type !== 'torch') return 0
  if (gpu_per_engine > 1) {
    throw new TrinityError(
      'config/engine',
      `a rollout engine of the torch engine takes one GPU, not ${gpu_per_engine}`,
      {
        path: 'explorer.rollout_model.tensor_parallel_size',
        hint: 'set tensor_parallel_size to 1, and engine_num to the number of GPUs',
      },
    )
  }
  return mode === 'both' && cluster.rollout_gpu_num > 0 && cluster.trainer_gpu_num > 0 ? engine_num : 0
}

/** Nothing is sampled between a step of the trainer and the transfer after it. */
function alternates({ synchronizer }: Config): boolean {
  const { sync_style, trainer_sync_interval, sync_offset } = synchronizer
  return sync_style === 'fixed' && trainer_sync_interval === 1 && sync_offset === 0
}

function modelOptions({ trainer }: Config, tree: Tree, key: string): TorchModelOptions {
  const fsdp = { ...child(tree, 'fsdp'), ...child(tree, 'model.fsdp_config'), ...child(tree, 'fsdp_config') }
  return {
    dtype: dtypeOf(fsdp.dtype, `${key}.fsdp_config.dtype`),
    paramOffload: flag(fsdp.param_offload) ?? (trainer.param_offload || trainer.offload_policy),
    optimizerOffload: flag(fsdp.optimizer_offload) ?? (trainer.optimizer_offload || trainer.offload_policy),
    ulysses: trainer.ulysses_sequence_parallel_size,
    compile: flag(tree.use_torch_compile),
  }
}

const DTYPES: Readonly<Record<string, TorchModelOptions['dtype']>> = {
  bfloat16: 'bfloat16',
  bf16: 'bfloat16',
  float32: 'float32',
  fp32: 'float32',
}

/** Undefined: the engine's own choice. */
function dtypeOf(name: unknown, path: string): TorchModelOptions['dtype'] {
  if (typeof name !== 'string') return undefined
  if (Object.hasOwn(DTYPES, name)) return DTYPES[name]
  throw new TrinityError('config/dtype', `the torch engine does not compute in ${name}`, {
    path,
    hint: 'use bfloat16 or float32',
  })
}

/** One log file for each rank. */
function logLines(logs: LogDir): TorchOptions['log'] {
  const loggers = new Map<number, ReturnType<LogDir['logger']>>()
  return (rank, line) => {
    const logger = loggers.get(rank) ?? logs.logger(`torch_${rank}`)
    loggers.set(rank, logger)
    logger.info(line)
  }
}

function child(tree: Tree, path: string): Tree {
  let found: unknown = tree
  for (const key of path.split('.')) found = (found as Tree | undefined)?.[key]
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Tree) : {}
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}
