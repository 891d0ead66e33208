import type { Value } from '../value.js'

/** What veRL assumes for a key that a script leaves out, for the keys whose meaning depends on it. */
export const VERL_DEFAULTS: Record<string, Value> = {
  'data.train_files': '~/data/rlhf/gsm8k/train.parquet',
  'data.val_files': '~/data/rlhf/gsm8k/test.parquet',
  'data.train_batch_size': 1024,
  'data.max_prompt_length': 512,
  'data.max_response_length': 512,
  'data.prompt_key': 'prompt',
  'actor_rollout_ref.model.path': '~/models/deepseek-llm-7b-chat',
  'actor_rollout_ref.actor.ppo_mini_batch_size': 256,
  'actor_rollout_ref.actor.clip_ratio': 0.2,
  'actor_rollout_ref.actor.kl_loss_coef': 0.001,
  'actor_rollout_ref.actor.kl_loss_type': 'low_var_kl',
  'actor_rollout_ref.rollout.n': 1,
  'actor_rollout_ref.rollout.tensor_model_parallel_size': 2,
  'algorithm.adv_estimator': 'gae',
  'algorithm.kl_penalty': 'kl',
  'algorithm.kl_ctrl.kl_coef': 0.001,
  'trainer.project_name': 'verl_examples',
  'trainer.experiment_name': 'gsm8k',
  'trainer.nnodes': 1,
  'trainer.n_gpus_per_node': 8,
  'trainer.total_epochs': 30,
  'trainer.save_freq': -1,
  'trainer.test_freq': -1,
}
