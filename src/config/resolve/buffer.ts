import { join } from 'node:path'
import { defaultsOf } from '../field.js'
import type { Config, ExperienceBufferConfig } from '../section/config.js'
import { experienceBuffer } from '../section/experience-buffer.js'
import { isOffline, type Scope } from './scope.js'
import { resolveStorage } from './storage.js'
import { resolveTasksets } from './taskset.js'

type Buffer = Config['buffer']

export function resolveBuffer(config: Config, scope: Scope): Buffer {
  const given = config.buffer
  const cache = join(config.checkpoint_job_dir, 'buffer')
  const trainBatch = trainBatchSize(config, scope)
  const sized = { ...config, buffer: { ...given, train_batch_size: trainBatch, cache_dir: cache } }
  const { tasksets, evals } = resolveTasksets(sized, scope)
  return {
    ...sized.buffer,
    tokenizer_path: config.model.model_path || null,
    explorer_input: { ...given.explorer_input, taskset: null, tasksets, eval_tasksets: evals },
    trainer_input: {
      ...given.trainer_input,
      experience_buffer: mainBuffer(sized, scope),
      auxiliary_buffers: Object.fromEntries(
        Object.entries(given.trainer_input.auxiliary_buffers).map(([name, one]) => [
          name,
          auxiliary(name, one, sized, scope),
        ]),
      ),
    },
  }
}

/** Experiences of a train step: as set, else all rollouts of the tasks of an explore step, and the experts' share. */
function trainBatchSize(config: Config, scope: Scope): number {
  const { train_batch_size: set, batch_size: tasks } = config.buffer
  if (set > 0) return set
  if (config.mode === 'train' && isOffline(scope) && scope.isSet('buffer.batch_size')) {
    scope.note('alias', 'buffer.batch_size', 'is read as train_batch_size: there are no tasks')
    return tasks
  }
  // the explorer of such a pair may be anything, but a file that says how much it makes has said enough
  if (config.mode === 'train' && !scope.isSet('buffer.batch_size')) {
    const text = 'mode train needs the number of experiences per step'
    scope.error('missing', 'buffer.train_batch_size', text, "for example the explorer's batch_size × repeat_times")
    return 0
  }
  const own = tasks * (config.algorithm.repeat_times ?? 1)
  const ratio =
    config.algorithm.sample_strategy === 'mix' ? Number(config.algorithm.sample_strategy_args?.expert_data_ratio) : 0
  return ratio > 0 && ratio < 1 ? Math.round(own / (1 - ratio)) : own
}

const MAIN = 'buffer.trainer_input.experience_buffer'
const OUTPUT = 'data_processor.experience_pipeline.output'

/** What the explorer writes and the trainer reads, and the key that says it. */
function givenBuffer(config: Config, scope: Scope): [given: ExperienceBufferConfig, key: string] {
  const { experience_buffer: read } = config.buffer.trainer_input
  const { output: written } = config.data_processor.experience_pipeline
  if (written && config.mode !== 'train') {
    if (config.mode === 'explore' || !read) return [written, OUTPUT]
    scope.warn('no-effect', OUTPUT, `the trainer of this run reads ${MAIN}: the explorer writes there`)
  }
  return [read ?? defaultsOf(experienceBuffer), MAIN]
}

function mainBuffer(config: Config, scope: Scope): ExperienceBufferConfig {
  const [given, key] = givenBuffer(config, scope)
  const named = { ...given, name: given.name || 'experience_buffer' }
  const trains = config.mode === 'train'
  if (isOffline(scope) && trains) {
    if (!given.path) scope.error('missing', `${key}.path`, `${config.algorithm.algorithm_type} needs a data set`)
    if (given.storage_type === 'queue') {
      const text = `${config.algorithm.algorithm_type} reads a data set; nothing would write to a queue`
      scope.error('value', `${key}.storage_type`, text, 'set storage_type: file or sql')
    }
  }
  return {
    ...resolveStorage(named, key, config, scope),
    schema_type: given.schema_type ?? scope.algorithm?.schema ?? null,
    total_epochs: given.total_epochs ?? config.buffer.total_epochs,
    total_steps: trains ? config.buffer.total_steps : null,
  }
}

function auxiliary(name: string, given: ExperienceBufferConfig, config: Config, scope: Scope): ExperienceBufferConfig {
  const key = `buffer.trainer_input.auxiliary_buffers.${name}`
  if (!given.path) scope.error('missing', `${key}.path`, 'an auxiliary buffer needs a path')
  const isDatabase = /^\w+:\/\//.test(given.path ?? '')
  const storage = given.storage_type ?? (isDatabase ? 'sql' : 'file')
  const resolved = resolveStorage(
    { ...given, name: given.name || name, storage_type: storage },
    key,
    config,
    scope,
    false,
  )
  return { ...resolved, schema_type: given.schema_type ?? (storage === 'file' ? 'sft' : 'experience') }
}
