import { bool, derived, dict, float, idle, int, oneOf, record, section, str, unset } from '../field.js'
import { dataSelector, format, generation, STORAGES, storageOptions } from './format.js'

export const taskset = record('TasksetConfig', 'A set of tasks to explore or to evaluate on.', {
  name: str('Name; used in the names of evaluation metrics.', '', { auto: 'taskset_<i>, eval_taskset_<i>' }),
  storage_type: oneOf(STORAGES, 'Where the tasks are.', 'file', storageOptions),
  path: str('Hub id, file, directory or database URL. Required.', null, { secret: 'url' }),
  default_workflow_type: str('Workflow of the tasks: a registered name.', null, {
    auto: 'explorer_input.default_workflow_type',
  }),
  default_reward_fn_type: str('Reward function of the tasks.', null, { auto: 'explorer_input.default_reward_fn_type' }),
  rollout_args: section(generation, 'Sampling.'),
  workflow_args: dict('Arguments of the workflow.'),
  reward_fn_args: dict('Arguments of the reward function.'),
  task_selector: unset(section(dataSelector, 'Old name of data_selector; wins over it when set.')),
  data_selector: section(dataSelector, 'Order of the tasks.'),
  split: str('Split of the data set.', 'train'),
  subset_name: str('Configuration of the data set on the hub.', null),
  format: section(format, 'Columns.'),
  max_retry_times: int('SQL: attempts per operation.', 3),
  max_retry_interval: int('SQL: seconds between attempts.', 1),
  enable_progress_bar: idle(
    bool('Show a bar while rows are read.', false),
    'progress is always shown by the run itself',
  ),
  ratio: float('Share in a mixture of task sets, relative to the others.', null, {
    min: 0,
    auto: 'as many tasks as it has rows',
  }),
  repeat_times: int('Rollouts of each task in an evaluation; training uses algorithm.repeat_times.', 1, { min: 1 }),
  index: derived(int('Position in the list of task sets.', 0)),
  is_eval: derived(bool('An evaluation set.', false)),
  batch_size: derived(int('Tasks of a step.', 0)),
  total_epochs: derived(int('Passes.', 1)),
  total_steps: derived(int('Steps.', null)),
  ray_namespace: derived(str('Namespace of the run.', null)),
})
