import { TrinityError } from '../../base/error.js'
import type { LogDir } from '../../base/log/logger.js'
import {
  type Config,
  type Gpu,
  type GpuPlan,
  type InferenceModelConfig,
  planGpus,
  type TrainerTree,
  trainerTree,
} from '../../config/index.js'
import { alternates, logPrefix } from '../spec.js'
import { exactLogprobs } from './exact-logprobs.js'
import type { SamplerOptions, TorchModelOptions, TorchOptions } from './options.js'
import { samplerArgs } from './sampler-args.js'
import type { Site } from './sites.js'

type Fsdp = TrainerTree['critic']['fsdp']

/** Which models lie on several GPUs each, because one is too small: that of the rollouts, and auxiliary ones by number. */
export type TooLarge = ReadonlySet<'rollout' | number>

/** What a configuration says about the torch engine: `trainer`, `cluster`, and veRL's tree below trainer_config. */
export function torchOptions(config: Config, logs?: LogDir, tooLarge: TooLarge = new Set()): TorchOptions {
  const { trainer, cluster, explorer } = config
  const { actor_rollout_ref: policy, critic } = trainerTree(config)
  type Part = { use_torch_compile: boolean | null; use_cuda_graphs?: boolean }
  const options = (part: Part, fsdp: Fsdp, key: string): TorchModelOptions => ({
    ...fsdpOptions(trainer, fsdp, `trainer.trainer_config.${key}.fsdp_config`),
    ulysses: trainer.ulysses_sequence_parallel_size,
    compile: part.use_torch_compile ?? undefined,
    record: part.use_cuda_graphs,
  })
  const placed = planOfApart(config)
  const rollout = explorer.rollout_model
  const equal = exactLogprobs(config, tooLarge.has('rollout')) || undefined
  const sampler = samplerOptions(rollout, 'explorer.rollout_model', placed?.rollout, tooLarge.has('rollout'))
  return {
    devices: Math.max(1, cluster.trainer_gpu_num),
    nodes: Math.max(1, cluster.trainer_node_num),
    ...sampler,
    exact: sampler.exact ?? equal,
    auxiliary: explorer.auxiliary_models.map((one, i) =>
      samplerOptions(one, `explorer.auxiliary_models[${i}]`, placed?.auxiliary[i], tooLarge.has(i)),
    ),
    policy: { ...options(policy.actor, policy.actor.fsdp_config, 'actor_rollout_ref.actor'), exactLogprobs: equal },
    reference: options(policy.ref, policy.ref.fsdp_config, 'actor_rollout_ref.ref'),
    critic: options(critic, merged([critic.fsdp_config, critic.model.fsdp_config, critic.fsdp]), 'critic'),
    shareStorage: alternates(config),
    timeoutMs: policy.nccl_timeout * 1000,
    log: logs && logLines(logs, logPrefix(config)),
  }
}

/** Where samplers have processes and GPUs of their own; undefined: they share those of the trainer, or there are no GPUs. */
function planOfApart(config: Config): GpuPlan | undefined {
  const { mode, cluster } = config
  return mode === 'train' || mode === 'colocate' || cluster.total_gpu_num === 0 ? undefined : planGpus(config)
}

function samplerOptions(
  model: InferenceModelConfig,
  key: string,
  engines: readonly (readonly Gpu[])[] | undefined,
  tooLarge: boolean,
): SamplerOptions {
  const args = samplerArgs(model.extra_engine_args, `${key}.extra_engine_args`)
  const together = tooLarge ? model.tensor_parallel_size * model.pipeline_parallel_size : 1
  return {
    samplers: model.engine_type === 'torch' ? engines?.flatMap((gpus) => sitesOf(gpus, together)) : undefined,
    memoryFraction: model.gpu_memory_utilization,
    eager: model.enforce_eager,
    exact: args.batch_invariant || undefined,
    maxBatch: args.max_num_seqs,
  }
}

/** Without Ray there is this machine alone. Gives what is to be known of a trainer on several. */
export function checkMachines({ cluster }: Config, hasRay: boolean): string | undefined {
  const { node_num: nodes, trainer_node_num: spanned } = cluster
  if (!hasRay && nodes > 1) {
    throw new TrinityError('engine/machines', `GPUs of ${nodes} nodes are planned, and no Ray reaches them`, {
      path: 'cluster.node_num',
      hint: 'start Ray on every node (ray start) and name it in cluster.ray_address, or set cluster.node_num to 1',
    })
  }
  if (spanned < 2) return undefined
  return `the trainer is on ${spanned} nodes: PyTorch sends its sums between them unencrypted (docs/cluster.md)`
}

/** Where an engine of several GPUs became several samplers. */
export function notesOfReplicas({ mode, explorer }: Config, tooLarge: TooLarge): string[] {
  const told = (model: InferenceModelConfig, key: string, who: 'rollout' | number) => {
    const { engine_type, gpu_per_engine: gpus, engine_num } = model
    if (engine_type !== 'torch' || gpus < 2 || tooLarge.has(who)) return []
    const one = `the model fits one GPU, so the ${gpus} GPUs of an engine are ${gpus} samplers, which is faster`
    return [`${key}.tensor_parallel_size: ${one} (${engine_num * gpus} samplers in all)`]
  }
  if (mode === 'train') return []
  return [
    ...told(explorer.rollout_model, 'explorer.rollout_model', 'rollout'),
    ...explorer.auxiliary_models.flatMap((one, i) => told(one, `explorer.auxiliary_models[${i}]`, i)),
  ]
}

/** The GPUs of an engine: one for each sampler, or so many together as its model needs. */
function sitesOf(gpus: readonly Gpu[], together: number): Site[] {
  const indices = gpus.map(({ index }) => index)
  return Array.from({ length: indices.length / together }, (_, i) => indices.slice(i * together, (i + 1) * together))
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
function logLines(logs: LogDir, prefix: string): TorchOptions['log'] {
  const loggers = new Map<number, ReturnType<LogDir['logger']>>()
  return (rank, line, node) => {
    const logger = loggers.get(rank) ?? logs.logger(`${prefix}torch_${rank}`, node)
    loggers.set(rank, logger)
    logger.info(line)
  }
}
