import { join } from 'node:path'
import { defaultsOf } from '../field.js'
import type { Config, TasksetConfig } from '../section/config.js'
import { taskset } from '../section/taskset.js'
import { resolveArguments } from './arguments.js'
import { isOffline, type Scope } from './scope.js'

type Operator = Config['data_processor']['experience_pipeline']['operators'][number]

export function resolveDataProcessor(config: Config, scope: Scope): Config['data_processor'] {
  const { experience_pipeline: experiences, task_pipeline: tasks } = config.data_processor
  const saved = `sqlite:///${join(config.checkpoint_job_dir, 'buffer', 'explorer_output.db')}`
  return {
    experience_pipeline: {
      ...experiences,
      operators: experiences.operators.map((one, i) => experienceOperator(one, i, config, scope)),
      input_save_path:
        experiences.input_save_path ?? (experiences.save_input && config.mode !== 'train' ? saved : null),
    },
    task_pipeline: tasks && {
      ...tasks,
      operators: tasks.operators.map((one, i) => named(one, `${TASKS}.operators[${i}]`, scope)),
      output: tasks.output ?? taskOutput(config, scope),
    },
  }
}

const TASKS = 'data_processor.task_pipeline'

/** What the pipeline makes is what the run reads: its first task set, or the data set that it learns from. */
function taskOutput({ mode, buffer }: Config, scope: Scope): TasksetConfig | null {
  if (mode === 'bench' || mode === 'serve') return null
  if (mode !== 'train') return buffer.explorer_input.tasksets[0] ?? null
  const { experience_buffer: data } = buffer.trainer_input
  if (isOffline(scope) && data?.path) return { ...defaultsOf(taskset), name: data.name, path: data.path }
  const hint = 'give it a path of its own, and read it by a task set or a buffer'
  scope.error('missing', `${TASKS}.output`, 'the task pipeline does not know where to write its tasks', hint)
  return null
}

/** Known by name with checked arguments. Data-Juicer learns where its service is. */
function experienceOperator(given: Operator, index: number, config: Config, scope: Scope): Operator {
  const key = `data_processor.experience_pipeline.operators[${index}]`
  const { operators } = scope.catalog
  const component = operators.find(given.name)
  if (!component) {
    if (given.name !== '') scope.unknownName(`${key}.name`, 'operator', given.name, operators)
    return named(given, key, scope)
  }
  const service = given.name === 'data_juicer' ? config.service.data_juicer : null
  const args = service ? { service_config: service, ...given.args } : given.args
  return { ...given, args: resolveArguments(component, args, `${key}.args`, scope) }
}

function named(given: Operator, key: string, scope: Scope): Operator {
  if (given.name === '') scope.error('missing', `${key}.name`, 'an operator needs a name')
  return given
}
