import { TrinityError } from '../../base/error.js'
import type { LogDir } from '../../base/log/logger.js'
import { type Config, type TrainerTree, trainerTree } from '../../config/index.js'
import { alternates } from '../spec.js'
import type { TorchModelOptions, TorchOptions } from './options.js'

type Fsdp = TrainerTree['critic']['fsdp']

/** What a configuration says about the torch engine: `trainer`, `cluster`, and veRL's tree below trainer_config. */
export function torchOptions(config: Config, logs?: LogDir): TorchOptions {
  const { trainer, cluster, explorer } = config
  if (cluster.trainer_node_num > 1) {
    throw new TrinityError('config/engine', `the trainer spans ${cluster.trainer_node_num} machines`, {
      path: 'cluster.node_num',
      hint: 'the torch engine uses the GPUs of one machine: set cluster.node_num to 1',
    })
  }
  const { batch_invariant: batchInvariant } = explorer.rollout_model.extra_engine_args
  const { actor_rollout_ref: policy, critic } = trainerTree(config)
  const options = (part: { use_torch_compile: boolean | null }, fsdp: Fsdp, key: string): TorchModelOptions => ({
    ...fsdpOptions(trainer, fsdp, `trainer.trainer_config.${key}.fsdp_config`),
    ulysses: trainer.ulysses_sequence_parallel_size,
    compile: part.use_torch_compile ?? undefined,
  })
  return {
    devices: Math.max(1, cluster.trainer_gpu_num),
    samplers: samplersApart(config),
    policy: options(policy.actor, policy.actor.fsdp_config, 'actor_rollout_ref.actor'),
    reference: options(policy.ref, policy.ref.fsdp_config, 'actor_rollout_ref.ref'),
    critic: options(critic, merged([critic.fsdp_config, critic.model.fsdp_config, critic.fsdp]), 'critic'),
    memoryFraction: explorer.rollout_model.gpu_memory_utilization,
    eager: explorer.rollout_model.enforce_eager,
    exact: batchInvariant === true || undefined,
    shareStorage: alternates(config),
    timeoutMs: policy.nccl_timeout * 1000,
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

/** The critic's settings stand in three places in files of different ages: the first that says something counts. */
function merged([first, ...others]: [Fsdp, ...Fsdp[]]): Fsdp {
  const keys = ['dtype', 'param_offload', 'optimizer_offload', 'offload_policy'] as const
  const pick = (key: (typeof keys)[number]) => [first, ...others].map((one) => one[key]).find((value) => value !== null)
  return { ...first, ...Object.fromEntries(keys.map((key) => [key, pick(key) ?? null])) }
}

function fsdpOptions(trainer: Config['trainer'], fsdp: Fsdp, path: string) {
  const all = fsdp.offload_policy ?? trainer.offload_policy
  return {
    dtype: dtypeOf(fsdp.dtype, `${path}.dtype`),
    paramOffload: fsdp.param_offload ?? (trainer.param_offload || all),
    optimizerOffload: fsdp.optimizer_offload ?? (trainer.optimizer_offload || all),
  }
}

const DTYPES: Readonly<Record<string, TorchModelOptions['dtype']>> = {
  bfloat16: 'bfloat16',
  bf16: 'bfloat16',
  float32: 'float32',
  fp32: 'float32',
}

/** Undefined: the engine's own choice. */
function dtypeOf(name: string | null, path: string): TorchModelOptions['dtype'] {
  if (name === null) return undefined
  if (Object.hasOwn(DTYPES, name)) return DTYPES[name]
  throw new TrinityError('config/dtype', `the torch engine cannot compute in ${name}`, {
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
