import { derived, int, list, map, record, section, str, unset } from '../field.js'
import { experienceBuffer } from './experience-buffer.js'
import { taskset } from './taskset.js'

const explorerInput = record('ExplorerInput', 'What the explorer works on.', {
  taskset: unset(section(taskset, 'The task set, when there is one; becomes the only entry of tasksets.')),
  tasksets: list(section(taskset, ''), 'Task sets that are mixed.'),
  eval_tasksets: list(section(taskset, ''), 'Task sets to evaluate on.'),
  default_workflow_type: str('Workflow of task sets that name none.', null),
  default_eval_workflow_type: str('Workflow of evaluation sets that name none.', null, {
    auto: 'default_workflow_type',
  }),
  default_reward_fn_type: str('Reward function of task sets that name none.', null),
})

const trainerInput = record('TrainerInput', 'What the trainer reads.', {
  experience_buffer: unset(section(experienceBuffer, 'The buffer.'), 'a queue named experience_buffer'),
  auxiliary_buffers: map(section(experienceBuffer, ''), 'Further data by name, for example expert answers for mix.'),
})

export const buffer = record('BufferConfig', 'Tasks in, experiences out, and how many of each make a step.', {
  batch_size: int('Tasks of an explore step.', 1, { min: 1 }),
  train_batch_size: int('Experiences of a train step; 0 computes it.', 0, {
    min: 0,
    auto: 'batch_size × repeat_times',
  }),
  total_epochs: int('Passes over the task sets.', 1, { min: 1 }),
  total_steps: int('Explore steps; replaces total_epochs when set.', null, { min: 1 }),
  total_tokens: int('Tokens sampled for training, after which no further step is explored.', null, { min: 1 }),
  explorer_input: section(explorerInput, 'Tasks.'),
  trainer_input: section(trainerInput, 'Experiences.'),
  explorer_output: unset(section(experienceBuffer, 'Where the explorer writes.', { derived: true })),
  tokenizer_path: derived(str('Tokenizer.', null)),
  cache_dir: derived(str('Folder of the files of the buffers.', null)),
})
