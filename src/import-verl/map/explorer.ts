import { type GpuSplit, splitGpus } from './gpus.js'
import { type Mapping, numberFallback } from './mapping.js'
import { type Pool, splitPools } from './pools.js'
import { readRewardModels, writeRewardModels } from './rewards.js'

const ROLLOUT = 'actor_rollout_ref.rollout'
const GUESS = 'not in a veRL script; the rule is a quarter each, the rest trains. Change it freely'

/** Cluster, rollout engines and auxiliary models: everything that needs to know the number of GPUs. */
export function mapGpus(mapping: Mapping): void {
  const { draft } = mapping
  const nodes = mapping.number('trainer.nnodes', numberFallback('trainer.nnodes'))
  const perNode = mapping.number('trainer.n_gpus_per_node', numberFallback('trainer.n_gpus_per_node'))
  const models = readRewardModels(mapping)
  const size = (name: string, fallback: number) => whole(mapping.number(`${ROLLOUT}.${name}`, fallback).value)
  const tensorParallel = size('tensor_model_parallel_size', numberFallback(`${ROLLOUT}.tensor_model_parallel_size`))
  const [data, pipeline] = [size('data_parallel_size', 1), size('pipeline_model_parallel_size', 1)]
  const demand = {
    nodes: whole(nodes.value),
    gpusPerNode: whole(perNode.value),
    tensorParallel,
    otherParallel: data * pipeline,
    auxiliary: models.map((model) => model.tensorParallel),
    trainerMultiple: trainerMultiple(mapping),
  }
  const pools = splitPools(demand, readRolloutPool(mapping), models)
  const split = pools?.split ?? splitGpus(demand)
  draft.set('cluster.node_num', pools?.nodes ?? nodes.written, pools ? 'trainer.nnodes and the pools' : nodes.comment)
  draft.set(
    'cluster.gpu_per_node',
    pools?.gpusPerNode ?? perNode.written,
    pools ? 'trainer.n_gpus_per_node and the pools' : perNode.comment,
  )
  if (split.colocate) draft.set('mode', 'colocate', 'one GPU: rollout and training take turns on it')
  writeEngine(mapping, split, tensorParallel, [data, pipeline], pools ? 'as the pools of the script' : GUESS)
  const served = models.slice(0, split.auxiliary.length)
  writeRewardModels(mapping, served, split.auxiliary)
  for (const model of models.slice(served.length)) {
    mapping.none(
      `${model.prefix}.model.path`,
      'no GPU is left for it: at least one for rollout, one for training and one for each auxiliary model are needed',
    )
  }
}

function writeEngine(
  mapping: Mapping,
  split: GpuSplit,
  tensorParallel: number,
  [data, pipeline]: [number, number],
  reason: string,
): void {
  const { draft } = mapping
  const key = `${ROLLOUT}.tensor_model_parallel_size`
  const engine = split.tensorParallel * split.otherParallel
  const parts = [`${split.engines} × ${engine} of the GPUs roll out`]
  if (split.auxiliary.length > 0) parts.push(`${split.auxiliary.join(' + ')} engines serve reward models`)
  parts.push(`${split.trainer} train`)
  draft.set(
    'explorer.rollout_model.engine_num',
    split.engines,
    split.colocate ? undefined : `${parts.join(', ')}: ${reason}`,
  )
  const reduced = split.tensorParallel !== tensorParallel
  const comment = mapping.has(key) ? key : `${key}: veRL's default`
  draft.set(
    'explorer.rollout_model.tensor_parallel_size',
    split.tensorParallel,
    reduced ? `${key}=${tensorParallel} would leave no GPU for training` : comment,
  )
  if (reduced)
    mapping.notes.push(
      `${key}=${tensorParallel} was set to ${split.tensorParallel}: rollout and training have separate GPUs here`,
    )
  for (const [name, value, from] of [
    ['data_parallel_size', data, 'data_parallel_size'],
    ['pipeline_parallel_size', pipeline, 'pipeline_model_parallel_size'],
  ] as const) {
    if (value > 1 && split.otherParallel > 1) draft.set(`explorer.rollout_model.${name}`, value, `${ROLLOUT}.${from}`)
    else if (value > 1) mapping.none(`${ROLLOUT}.${from}`, 'would leave no GPU for training')
  }
  const name = mapping.word(`${ROLLOUT}.name`)
  if (name === undefined) return
  if (/^sglang/.test(name)) draft.set('explorer.rollout_model.engine_type', 'sglang', `${ROLLOUT}.name`)
  else if (/^vllm/.test(name)) mapping.cover(`${ROLLOUT}.name`, 'vllm is what Trinity uses anyway')
  else mapping.none(`${ROLLOUT}.name`, 'Trinity rolls out with vLLM or SGLang; vLLM is used')
}

/** Sizes that must divide the trainer's GPUs. */
function trainerMultiple(mapping: Mapping): number {
  const size = (key: string) => {
    const value = mapping.settings.get(key)?.value
    return typeof value === 'number' && value >= 1 && Number.isInteger(value) ? value : 1
  }
  const megatron = 'actor_rollout_ref.actor.megatron'
  const parallel =
    size(`${megatron}.tensor_model_parallel_size`) *
    size(`${megatron}.pipeline_model_parallel_size`) *
    size(`${megatron}.context_parallel_size`)
  return Math.max(size('actor_rollout_ref.actor.ulysses_sequence_parallel_size'), parallel)
}

/** The asynchronous recipes give rollout its own GPUs, on top of the trainer's. */
function readRolloutPool(mapping: Mapping): Pool | undefined {
  if (!mapping.has('rollout.n_gpus_per_node')) return undefined
  const pool = {
    nodes: whole(mapping.number('rollout.nnodes', 1).value),
    gpusPerNode: whole(mapping.number('rollout.n_gpus_per_node', 8).value),
  }
  return mapping.settings.get('actor_rollout_ref.hybrid_engine')?.value === true ? undefined : pool
}

function whole(value: number): number {
  return Math.max(1, Math.floor(value))
}
