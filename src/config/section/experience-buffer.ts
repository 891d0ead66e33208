import { bool, derived, dict, float, idle, int, oneOf, optional, record, section, str } from '../field.js'
import { dataSelector, format, STORAGES, storageOptions } from './format.js'

const replayBuffer = record('ReplayBufferConfig', 'Taking experiences by priority, and more than once.', {
  enable: bool('Hand out the experiences with the highest priority first.', false),
  priority_fn: str('Name of the priority function: linear_decay, decay_limit_randomization.', 'linear_decay'),
  reuse_cooldown_time: float('Seconds until an experience may be used again; null uses each once.', null),
  priority_fn_args: dict("Arguments of the priority function, over the function's defaults.", { decay: 2 }),
})

export const experienceBuffer = record('ExperienceBufferConfig', 'Experiences on their way to the trainer.', {
  name: str('Name of the buffer and its table.', '', { auto: 'experience_buffer' }),
  storage_type: oneOf(STORAGES, 'Kind of the buffer.', null, {
    ...storageOptions,
    auto: 'queue; file for sft, dpo and cpt',
  }),
  path: str('Data set, JSONL file or database URL; a queue keeps its experiences there too.', null, {
    auto: '<job>/buffer/<name>.db or .jsonl',
    secret: 'url',
  }),
  capacity: int('Experiences a queue holds before writers wait.', 10000, { min: 1 }),
  max_read_timeout: float('Seconds the trainer waits for a batch.', 1800, { min: 0 }),
  replay_buffer: optional(section(replayBuffer, 'Replay.')),
  max_retry_times: int('SQL: attempts per operation.', 3),
  max_retry_interval: int('SQL: seconds between attempts.', 1),
  split: str('Split of the data set.', 'train'),
  subset_name: str('Configuration of the data set on the hub.', null),
  format: section(format, 'Columns.'),
  enable_progress_bar: idle(
    optional(bool('Show a bar while rows are read.', false)),
    'progress is always shown by the run itself',
  ),
  data_selector: section(dataSelector, 'Order of the rows of a data set.'),
  schema_type: oneOf(['experience', 'sft', 'dpo', 'cpt'], 'What each row holds.', null, { auto: "the algorithm's" }),
  index: derived(int('Position.', 0)),
  batch_size: derived(int('Experiences of a step.', 0)),
  tokenizer_path: derived(str('Tokenizer.', null)),
  total_epochs: int('Passes over the data; an auxiliary buffer repeats as long as it is read.', null, {
    min: 1,
    auto: 'buffer.total_epochs in mode train',
  }),
  total_steps: derived(int('Steps.', null)),
  ray_namespace: derived(str('Namespace of the run.', null)),
})
