import type { EngineFacts } from '../catalog.js'
import { planGpus } from '../gpu-plan.js'
import { trainsIn } from '../mode.js'
import type { Config } from '../section/config.js'
import { type Engines, usesGpus } from './engine.js'
import type { Scope } from './scope.js'

type Cluster = Config['cluster']
const EXPLORING = ['both', 'explore', 'bench', 'serve', 'colocate']

/** Where there is one GPU, explorer and trainer share it. Other modes stay what they are. */
export function resolveMode(config: Config, engines: Engines, scope: Scope): Config['mode'] {
  const { explorer, mode } = config
  const { nodes, perNode } = machines(config, engines, scope)
  const alone =
    nodes * perNode === 1 && explorer.rollout_model.engine_num === 1 && explorer.auxiliary_models.length === 0
  if (mode !== 'both' || !alone || engines.trainer !== engines.rollout || !engines.trainer.colocates) return mode
  scope.note('one-gpu', 'mode', 'there is one GPU, which explorer and trainer share: colocate')
  return 'colocate'
}

/** Splits nodes × GPUs into rollout engines, auxiliary models and what is left for the trainer. */
export function resolveCluster(config: Config, engines: Engines, scope: Scope): Cluster {
  const given = config.cluster
  const { nodes, perNode } = machines(config, engines, scope)
  const total = nodes * perNode
  const { rollout_model: model, auxiliary_models: auxiliaries } = config.explorer
  const explores = EXPLORING.includes(config.mode)
  const rollout = explores ? model.engine_num * model.gpu_per_engine : 0
  const auxiliary = explores ? auxiliaries.reduce((sum, one) => sum + one.engine_num * one.gpu_per_engine, 0) : 0
  const trains = trainsIn(config.mode)
  const trainer =
    !trains || !takesGpus(engines.trainer, config)
      ? 0
      : config.mode === 'colocate'
        ? total
        : Math.max(0, total - rollout - auxiliary)
  const result: Cluster = {
    ...given,
    node_num: nodes,
    gpu_per_node: perNode,
    total_gpu_num: total,
    rollout_gpu_num: rollout,
    auxiliary_model_gpu_num: auxiliary,
    explorer_gpu_num: rollout + auxiliary,
    trainer_gpu_num: trainer,
    trainer_node_num: trainer === 0 ? 0 : Math.max(1, Math.ceil(trainer / Math.max(1, perNode))),
    trainer_gpu_num_per_node: Math.min(trainer, perNode),
  }
  if (total > 0 && !engines.offGpu) checkSplit(config, result, engines, scope)
  return result
}

function wholeNodes({ trainer_gpu_num: trainer, gpu_per_node: perNode }: Cluster): boolean {
  return trainer <= perNode || trainer % perNode === 0
}

function machines(config: Config, engines: Engines, scope: Scope): { nodes: number; perNode: number } {
  const { node_num, gpu_per_node, ray_address } = config.cluster
  const isOpen = (gpu_per_node === 0 || node_num === 0) && usesGpus(engines)
  const ray = (isOpen ? scope.facts.nodeGpus(ray_address) : undefined)?.filter((gpus) => gpus > 0) ?? []
  // of nodes that differ, what each of them has
  const least = ray.length > 0 ? Math.min(...ray) : scope.facts.gpus
  const perNode = gpu_per_node || (usesGpus(engines) ? least : 0)
  const large = ray.filter((gpus) => gpus >= perNode).length
  return { perNode, nodes: node_num || (perNode > 0 ? Math.max(1, large) : 0) }
}

/** GPUs a model takes: those of its engine, or none where the engine computes elsewhere. */
export function gpusOfEngine(model: Config['explorer']['rollout_model'], engine: EngineFacts, config: Config): number {
  // a server that runs already has its own
  if (!takesGpus(engine, config) || model.base_url !== null) return 0
  return model.tensor_parallel_size * model.data_parallel_size * model.pipeline_parallel_size
}

function takesGpus({ gpus }: EngineFacts, config: Config): boolean {
  return gpus === 'takes' || (gpus === 'plans' && config.cluster.gpu_per_node > 0)
}

function checkSplit(config: Config, split: Cluster, engines: Engines, scope: Scope): void {
  const { rollout_model: model } = config.explorer
  const numbers =
    `${split.node_num} × ${split.gpu_per_node} = ${split.total_gpu_num} GPUs; ` +
    `rollout takes ${split.rollout_gpu_num} (${model.engine_num} × ${model.gpu_per_engine}), ` +
    `auxiliary models ${split.auxiliary_model_gpu_num}`
  const key = scope.isSet('cluster') ? 'cluster' : 'explorer.rollout_model'
  if (config.mode === 'colocate') {
    const fits = split.total_gpu_num === 1 && split.rollout_gpu_num === 1 && split.auxiliary_model_gpu_num === 0
    if (!fits && split.rollout_gpu_num > 0)
      scope.error('gpu-split', key, `colocate shares exactly one GPU; here ${numbers}`)
    return
  }
  if (split.explorer_gpu_num > split.total_gpu_num) {
    scope.error('gpu-split', key, `there are not enough GPUs: ${numbers}`, 'use fewer engines or more GPUs')
  } else if (config.mode === 'both' && split.trainer_gpu_num === 0 && takesGpus(engines.trainer, config)) {
    const hint = split.total_gpu_num === 1 ? 'with one GPU set mode: colocate' : 'use fewer engines or more GPUs'
    scope.error('gpu-split', key, `nothing is left for the trainer: ${numbers}`, hint)
  } else if (wholeNodes(split) && !planGpus({ ...config, cluster: split })) {
    const text = `an engine would have GPUs of two nodes: ${numbers}; trainer ${split.trainer_gpu_num}`
    scope.error('gpu-split', key, text, 'choose engine_num and tensor_parallel_size so that engines fill nodes')
  }
  const { trainer_gpu_num: trainer, gpu_per_node: perNode } = split
  if (!wholeNodes(split)) {
    const text = `the trainer gets ${trainer} GPUs, which do not fill whole nodes of ${perNode}: ${numbers}`
    scope.error('gpu-split', key, text)
  }
  const sequence = Math.max(1, config.trainer.ulysses_sequence_parallel_size)
  if (trainer > 0 && trainer % sequence !== 0) {
    const text = `the ${trainer} GPUs of the trainer are not a multiple of ulysses_sequence_parallel_size ${sequence}`
    scope.error('gpu-split', 'trainer.ulysses_sequence_parallel_size', text)
  }
}
