import type { FormGroup } from '../api.js'

/** What the trainer reads when nothing is explored. */
const DATA = ['sft', 'dpo', 'cpt']
const EXPLORED = ['experience']
const TASKSET = 'buffer.explorer_input.taskset'
const DATASET = 'buffer.trainer_input.experience_buffer'

/** The keys that most runs set, in the order in which one thinks of them. */
export const COMMON: readonly FormGroup[] = [
  {
    title: 'Run',
    keys: ['mode', 'project', 'group', 'name', 'checkpoint_root_dir', 'monitor.monitor_type', 'log.level'],
  },
  {
    title: 'Model',
    keys: ['model.model_path', 'model.max_model_len', 'model.max_prompt_tokens', 'model.max_response_tokens'],
  },
  {
    title: 'Algorithm',
    keys: [
      'algorithm.algorithm_type',
      'algorithm.repeat_times',
      'algorithm.optimizer.lr',
      'algorithm.policy_loss_fn_args',
      'algorithm.kl_loss_fn',
      'algorithm.kl_loss_fn_args',
      'algorithm.entropy_loss_fn_args',
      'trainer.trainer_config.critic.optim.lr',
    ],
  },
  {
    title: 'Tasks',
    schemas: EXPLORED,
    unless: 'buffer.explorer_input.tasksets',
    keys: [
      `${TASKSET}.path`,
      `${TASKSET}.split`,
      `${TASKSET}.format.prompt_key`,
      `${TASKSET}.format.response_key`,
      `${TASKSET}.default_workflow_type`,
      `${TASKSET}.workflow_args`,
      `${TASKSET}.default_reward_fn_type`,
      `${TASKSET}.rollout_args.temperature`,
    ],
  },
  {
    title: 'Task sets',
    schemas: EXPLORED,
    when: 'buffer.explorer_input.tasksets',
    keys: ['buffer.explorer_input.tasksets'],
  },
  {
    title: 'Evaluation',
    schemas: EXPLORED,
    keys: ['buffer.explorer_input.eval_tasksets', 'explorer.eval_interval', 'explorer.eval_on_startup'],
  },
  {
    title: 'Data',
    schemas: DATA,
    keys: [
      `${DATASET}.path`,
      `${DATASET}.split`,
      `${DATASET}.format.prompt_type`,
      `${DATASET}.format.messages_key`,
      `${DATASET}.format.prompt_key`,
      `${DATASET}.format.response_key`,
      `${DATASET}.format.chosen_key`,
      `${DATASET}.format.rejected_key`,
    ],
  },
  {
    title: 'Amount',
    keys: [
      'buffer.batch_size',
      'buffer.train_batch_size',
      'buffer.total_epochs',
      'buffer.total_steps',
      'trainer.save_interval',
      'trainer.max_checkpoints_to_keep',
    ],
  },
  {
    title: 'Machine',
    keys: [
      'explorer.rollout_model.engine_type',
      'explorer.rollout_model.engine_num',
      'explorer.rollout_model.tensor_parallel_size',
      'trainer.trainer_type',
      'trainer.ulysses_sequence_parallel_size',
      'cluster.node_num',
      'cluster.gpu_per_node',
    ],
  },
  {
    title: 'Weights',
    schemas: EXPLORED,
    keys: ['synchronizer.sync_method', 'synchronizer.sync_style', 'synchronizer.sync_interval'],
  },
]
