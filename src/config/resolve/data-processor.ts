import { join } from 'node:path'
import type { Config } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import type { Scope } from './scope.js'

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
      operators: tasks.operators.map((one, i) => named(one, `data_processor.task_pipeline.operators[${i}]`, scope)),
    },
  }
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
