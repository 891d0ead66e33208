/** What the pages of the original's configuration manager hold, as keys. `[]` is an entry of a list. */

const words = (text: string) => text.trim().split(/\s+/)
const below = (path: string, text: string) => words(text).map((key) => `${path}.${key}`)
const MODEL = `model_path engine_type engine_num tensor_parallel_size use_v1 enforce_eager enable_prefix_caching
  enable_chunked_prefill gpu_memory_utilization dtype seed enable_thinking enable_history enable_openai_api
  enable_auto_tool_choice tool_call_parser reasoning_parser max_model_len max_prompt_tokens max_response_tokens`
const BACKEND = 'trainer.trainer_config'
const FSDP = 'param_offload optimizer_offload offload_policy reshard_after_forward fsdp_size forward_prefetch'
const MEGATRON = `param_offload grad_offload optimizer_offload tensor_model_parallel_size pipeline_model_parallel_size
  virtual_pipeline_model_parallel_size expert_model_parallel_size expert_tensor_parallel_size context_parallel_size
  sequence_parallel use_mbridge`

/** The page for beginners: these come first here too. */
export const BEGINNER: readonly string[] = [
  ...words('mode project name checkpoint_root_dir monitor.monitor_type log.level trainer.save_interval'),
  ...below('model', 'model_path max_model_len max_prompt_tokens max_response_tokens'),
  ...below('algorithm', 'algorithm_type repeat_times optimizer.lr kl_loss_fn kl_loss_fn_args entropy_loss_fn_args'),
  `${BACKEND}.critic.optim.lr`,
  ...below(
    'buffer.explorer_input.taskset',
    'path format.prompt_key format.response_key default_workflow_type default_reward_fn_type',
  ),
  ...below(
    'buffer.trainer_input.experience_buffer',
    `path format.prompt_type format.messages_key format.prompt_key format.response_key format.chosen_key
     format.rejected_key`,
  ),
  ...below('buffer', 'batch_size train_batch_size total_epochs total_steps'),
  ...below('explorer.rollout_model', 'engine_num tensor_parallel_size'),
  ...words('cluster.node_num cluster.gpu_per_node trainer.ulysses_sequence_parallel_size'),
  ...below('synchronizer', 'sync_method sync_style sync_interval'),
]

/** The pages for experts. */
export const EXPERT: readonly string[] = [
  ...below('buffer.explorer_input', 'default_workflow_type default_eval_workflow_type default_reward_fn_type'),
  ...below(
    'buffer.explorer_input.taskset',
    `split subset_name rollout_args.temperature rollout_args.logprobs workflow_args reward_fn_args repeat_times
     format.system_prompt format.reply_prefix`,
  ),
  ...below(
    'buffer.explorer_input.eval_tasksets[]',
    `name path split subset_name format.prompt_key format.response_key rollout_args.temperature rollout_args.logprobs
     repeat_times`,
  ),
  ...below(
    'buffer.trainer_input.experience_buffer',
    'storage_type path split subset_name max_read_timeout replay_buffer.enable replay_buffer.reuse_cooldown_time',
  ),
  ...below('buffer.trainer_input.experience_buffer.replay_buffer', 'priority_fn priority_fn_args'),
  ...below('explorer', 'max_timeout max_retry_times runner_per_model eval_interval eval_on_startup'),
  ...below('explorer.rollout_model', MODEL),
  ...below('explorer.auxiliary_models[]', MODEL),
  ...below('synchronizer', 'sync_timeout sync_offset'),
  ...['sample_strategy', 'advantage_fn', 'kl_penalty_fn', 'policy_loss_fn', 'kl_loss_fn', 'entropy_loss_fn'].flatMap(
    (key) => [`algorithm.${key}`, `algorithm.${key}_args`],
  ),
  ...below(
    'trainer',
    `trainer_type trainer_strategy enable_preview save_interval max_checkpoints_to_keep critic_warmup grad_clip
     use_dynamic_bsz max_token_len_per_gpu save_hf_checkpoint save_strategy`,
  ),
  'continue_from_checkpoint',
  ...below('trainer.megatron', 'tensor_model_parallel_size pipeline_model_parallel_size context_parallel_size'),
  ...below(
    `${BACKEND}.actor_rollout_ref.actor`,
    `ppo_mini_batch_size ppo_micro_batch_size_per_gpu ppo_max_token_len_per_gpu use_dynamic_bsz ppo_epochs grad_clip
     strategy shuffle ulysses_sequence_parallel_size entropy_from_logits_with_chunking entropy_checkpointing
     checkpoint.save_contents checkpoint.load_contents`,
  ),
  ...below(`${BACKEND}.actor_rollout_ref.actor.optim`, 'lr lr_warmup_steps lr_warmup_steps_ratio min_lr_ratio betas'),
  ...below(`${BACKEND}.actor_rollout_ref.actor.fsdp_config`, FSDP),
  ...below(`${BACKEND}.actor_rollout_ref.actor.megatron`, MEGATRON),
  ...below(
    `${BACKEND}.actor_rollout_ref.ref`,
    'log_prob_micro_batch_size_per_gpu log_prob_use_dynamic_bsz log_prob_max_token_len_per_gpu strategy',
  ),
  ...below(`${BACKEND}.actor_rollout_ref.ref.fsdp_config`, FSDP),
  ...below(`${BACKEND}.actor_rollout_ref.ref.megatron`, MEGATRON),
  ...below(
    `${BACKEND}.critic`,
    `ppo_mini_batch_size ppo_micro_batch_size_per_gpu forward_micro_batch_size_per_gpu ppo_epochs grad_clip
     cliprange_value strategy ulysses_sequence_parallel_size optim.lr optim.lr_warmup_steps_ratio checkpoint.save_contents`,
  ),
  ...below(`${BACKEND}.critic.fsdp`, FSDP),
  ...below(`${BACKEND}.critic.megatron`, MEGATRON),
]
