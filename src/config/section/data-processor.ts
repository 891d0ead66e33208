import { bool, dict, float, idle, int, list, map, record, section, str, unset } from '../field.js'
import { experienceBuffer } from './experience-buffer.js'
import { taskset } from './taskset.js'

export const operator = record('OperatorConfig', 'One step of a pipeline.', {
  name: str('Registered name.', ''),
  args: dict('Arguments of the operator.'),
})

const experiencePipeline = record('ExperiencePipelineConfig', 'What happens to experiences before the buffer.', {
  operators: list(section(operator, ''), 'Operators, in order.'),
  save_input: bool('Keep the raw experiences.', true),
  input_save_path: str('Where the raw experiences are kept.', null, {
    auto: 'sqlite:///<job>/buffer/explorer_output.db',
    secret: 'url',
  }),
  inputs: idle(
    map(section(experienceBuffer, ''), 'Further buffers by name.'),
    'this version reads no further buffers here',
  ),
  output: unset(
    section(experienceBuffer, 'Buffer that an explorer writes, where no trainer of the run reads another one.'),
    'buffer.trainer_input.experience_buffer',
  ),
})

const taskPipeline = record('TaskPipelineConfig', 'What happens to task files before the run.', {
  operators: list(section(operator, ''), 'Operators, in order.'),
  num_process: int('Processes of the data service.', 4, { min: 1 }),
  config_path: str('Data-Juicer configuration; replaces operators.', null),
  inputs: list(str('', ''), 'Files to read.'),
  output: unset(section(taskset, 'Where the result goes.'), 'the first task set'),
  target_fields: list(str('', ''), 'Columns to keep.'),
  priority_weights: map(float('', 0), 'Weights of difficulty, diversity, usage_frequency and quality.'),
  top_k: int('Keep the k tasks with the highest priority; -1 keeps all.', -1),
})

export const dataProcessor = record('DataProcessorConfig', 'Pipelines over tasks and experiences.', {
  task_pipeline: unset(section(taskPipeline, 'Before the run.')),
  experience_pipeline: section(experiencePipeline, 'During the run.'),
})
