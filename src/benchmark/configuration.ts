import { type Document, parseDocument } from 'yaml'
import { TrinityError } from '../base/error.js'
import { engineCount } from './engine-count.js'

/** What a benchmark is run with; what is undefined stays as the template has it. */
export interface BenchmarkOptions {
  readonly nodes: number
  /** 0: on a processor. */
  readonly gpusPerNode: number
  readonly engines?: number
  readonly parallelSize?: number
  readonly engineType?: string
  readonly ratio: number
  readonly modelPath?: string
  readonly criticModelPath?: string
  readonly tasksetPath?: string
  readonly lr?: number
  readonly criticLr?: number
  readonly syncInterval?: number
  readonly syncOffset?: number
  readonly syncStyle?: string
  readonly trainerStrategy?: string
  readonly monitor?: string
}

/** The configuration of one run, as YAML: a template with a name, a folder, and what was asked for. */
export function benchmarkYaml(template: string, options: BenchmarkOptions, run: { name: string; dir: string }): string {
  const document = parseDocument(template)
  document.set('name', `${document.get('name')}-${run.name}`)
  document.set('checkpoint_root_dir', run.dir)
  for (const [path, value] of settings(document, options)) {
    if (value !== undefined) document.setIn(path.split('.'), value)
  }
  placeOnGpus(document, options)
  return document.toString({ lineWidth: 0 })
}

function settings(document: Document, options: BenchmarkOptions): [string, unknown][] {
  return [
    ['model.model_path', options.modelPath],
    ['buffer.explorer_input.taskset.path', options.tasksetPath],
    ['algorithm.optimizer.lr', options.lr],
    ['explorer.rollout_model.engine_type', options.engineType],
    ['explorer.rollout_model.tensor_parallel_size', options.parallelSize],
    ['synchronizer.sync_interval', options.syncInterval],
    ['synchronizer.sync_offset', options.syncOffset],
    ['synchronizer.sync_style', options.syncStyle],
    ['trainer.trainer_strategy', options.trainerStrategy],
    ['monitor.monitor_type', options.monitor],
    ...critic(document, options),
  ]
}

/** Only a benchmark that has a critic takes options of one. */
function critic(document: Document, { criticModelPath, criticLr }: BenchmarkOptions): [string, unknown][] {
  if (document.hasIn(['model', 'critic_model_path'])) {
    return [
      ['model.critic_model_path', criticModelPath],
      ['trainer.trainer_config.critic.optim.lr', criticLr],
    ]
  }
  const given =
    criticModelPath !== undefined ? '--critic-model-path' : criticLr !== undefined ? '--critic-lr' : undefined
  if (given === undefined) return []
  throw new TrinityError('benchmark/critic', `this benchmark trains no critic`, {
    path: given,
    hint: `leave ${given} out; countdown is the one with a critic`,
  })
}

function placeOnGpus(document: Document, { nodes, gpusPerNode, engines, ratio }: BenchmarkOptions): void {
  const read = (path: string) => Number(document.getIn(path.split('.')))
  if (gpusPerNode === 0) document.delete('cluster')
  else {
    document.setIn(['cluster', 'node_num'], nodes)
    document.setIn(['cluster', 'gpu_per_node'], gpusPerNode)
  }
  const parallelSize = read('explorer.rollout_model.tensor_parallel_size')
  const batch = read('buffer.batch_size') * read('algorithm.repeat_times')
  const count = engines ?? engineCount({ nodes, gpusPerNode, parallelSize, ratio, batch })
  document.setIn(['explorer', 'rollout_model', 'engine_num'], count)
}
