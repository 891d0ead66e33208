import { join } from 'node:path'
import type { Config } from '../section/config.js'
import type { Scope } from './scope.js'

type Operators = Config['data_processor']['experience_pipeline']['operators']

export function resolveDataProcessor(config: Config, scope: Scope): Config['data_processor'] {
  const { experience_pipeline: experiences, task_pipeline: tasks } = config.data_processor
  const saved = `sqlite:///${join(config.checkpoint_job_dir, 'buffer', 'explorer_output.db')}`
  return {
    experience_pipeline: {
      ...experiences,
      operators: operators(experiences.operators, 'data_processor.experience_pipeline', config, scope),
      input_save_path:
        experiences.input_save_path ?? (experiences.save_input && config.mode !== 'train' ? saved : null),
    },
    task_pipeline: tasks && {
      ...tasks,
      operators: operators(tasks.operators, 'data_processor.task_pipeline', config, scope),
    },
  }
}

/** Data-Juicer operators learn where their service is. */
function operators(list: Operators, key: string, config: Config, scope: Scope): Operators {
  return list.map((operator, i) => {
    if (operator.name === '') scope.error('missing', `${key}.operators[${i}].name`, 'an operator needs a name')
    if (operator.name !== 'data_juicer' || !config.service.data_juicer) return operator
    return { ...operator, args: { service_config: config.service.data_juicer, ...operator.args } }
  })
}
