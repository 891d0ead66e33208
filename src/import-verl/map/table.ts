/**
 * What becomes of a veRL key. `to`: copied to this Trinity key. `pass`: copied below `trainer.trainer_config` at its own
 * path. `by`: used by a derived value (the file that computes it). `same`: Trinity does so anyway, or another key says it.
 * `none`: no counterpart, with the reason. `.**` stands for every key below; the longest match counts.
 */
export type Rule =
  | { to: string; as: 'number' | 'boolean' | 'text' | 'value' }
  | { pass: true }
  | { by: string }
  | { same: string }
  | { none: string }

const number = (to: string): Rule => ({ to, as: 'number' })
const boolean = (to: string): Rule => ({ to, as: 'boolean' })
const text = (to: string): Rule => ({ to, as: 'text' })
const value = (to: string): Rule => ({ to, as: 'value' })
const pass: Rule = { pass: true }
const by = (file: string): Rule => ({ by: file })
const same = (reason: string): Rule => ({ same: reason })
const none = (reason: string): Rule => ({ none: reason })

const ROLLOUT_MODEL = 'explorer.rollout_model'
const FOLLOWS = same(
  'follows the trainer: trainer.use_dynamic_bsz, max_token_len_per_gpu, ulysses_sequence_parallel_size, trainer_strategy',
)
const PROFILER = none('Trinity has no such profiler')
const REWARD = none(
  'veRL runs Python code for rewards; name a reward in buffer.explorer_input.default_reward_fn_type, or write one as a plugin',
)
const ENGINE = none('a detail of how veRL shares GPUs between rollout and training; here each has its own')

const section = (prefix: string, rules: Record<string, Rule>): [string, Rule][] =>
  Object.entries(rules).map(([key, rule]) => [`${prefix}.${key}`, rule])

export const TABLE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...section('algorithm', {
    adv_estimator: by('algorithm'),
    gamma: by('algorithm'),
    lam: by('algorithm'),
    norm_adv_by_std_in_grpo: by('algorithm'),
    use_kl_in_reward: by('algorithm'),
    kl_penalty: by('algorithm'),
    'kl_ctrl.**': by('algorithm'),
    'filter_groups.**': by('algorithm'),
    'rollout_correction.**': value('algorithm.rollout_correction.*'),
    rollout_is: value('algorithm.rollout_correction.rollout_is'),
    rollout_is_threshold: value('algorithm.rollout_correction.rollout_is_threshold'),
    '**': none('Trinity has no such algorithm setting'),
  }),
  ...section('data', {
    train_files: by('tasksets'),
    val_files: by('tasksets'),
    prompt_key: by('tasksets'),
    response_key: by('tasksets'),
    image_key: by('tasksets'),
    video_key: by('tasksets'),
    shuffle: by('tasksets'),
    seed: by('tasksets'),
    train_batch_size: by('sections'),
    max_prompt_length: by('sections'),
    max_response_length: by('sections'),
    gen_batch_size: none('prompts are generated batch by batch; groups dropped by dynamic sampling are not replaced'),
    val_batch_size: same('deprecated in veRL; evaluation goes task by task'),
    filter_overlong_prompts: boolean('model.enable_prompt_truncation'),
    truncation: none(
      'prompts that are too long are always cut on the right, and such experiences do not enter the loss',
    ),
    trust_remote_code: boolean('model.trust_remote_code'),
    'apply_chat_template_kwargs.enable_thinking': boolean('model.enable_thinking'),
    return_raw_chat: same('messages are always kept'),
    return_raw_input_ids: same('tokens are always kept'),
    return_full_prompt: same('prompts are always kept'),
    reward_fn_key: none(
      'veRL picks the reward by the data source of a row; name one in default_reward_fn_type or per row with format.reward_fn_key',
    ),
    '**': none('Trinity reads tasks in its own way: see buffer.explorer_input'),
  }),
  ...section('actor_rollout_ref.model', {
    path: by('sections'),
    trust_remote_code: boolean('model.trust_remote_code'),
    custom_chat_template: text('model.custom_chat_template'),
    lora_rank: by('sections'),
    lora_alpha: by('sections'),
    lora_adapter_path: by('sections'),
    target_modules: by('sections'),
    exclude_modules: by('sections'),
    'lora.**': by('sections'),
    use_rmpad: same('old name of use_remove_padding, which is on by default'),
    tokenizer_path: none('the tokenizer of the model is used'),
    hf_config_path: none('the configuration of the model is used'),
    '**': pass,
  }),
  ...section('actor_rollout_ref.actor', {
    strategy: text('trainer.trainer_strategy'),
    ppo_mini_batch_size: by('sections'),
    use_dynamic_bsz: boolean('trainer.use_dynamic_bsz'),
    ppo_max_token_len_per_gpu: number('trainer.max_token_len_per_gpu'),
    ulysses_sequence_parallel_size: number('trainer.ulysses_sequence_parallel_size'),
    grad_clip: number('trainer.grad_clip'),
    use_kl_loss: by('algorithm'),
    kl_loss_coef: by('algorithm'),
    kl_loss_type: by('algorithm'),
    entropy_coeff: by('algorithm'),
    clip_ratio: by('algorithm'),
    clip_ratio_low: by('algorithm'),
    clip_ratio_high: by('algorithm'),
    clip_ratio_c: by('algorithm'),
    tau_pos: by('algorithm'),
    tau_neg: by('algorithm'),
    'policy_loss.loss_mode': by('algorithm'),
    'policy_loss.clip_cov_ratio': by('algorithm'),
    'policy_loss.clip_cov_lb': by('algorithm'),
    'policy_loss.clip_cov_ub': by('algorithm'),
    'policy_loss.kl_cov_ratio': by('algorithm'),
    'policy_loss.ppo_kl_coef': by('algorithm'),
    loss_agg_mode: text('algorithm.loss_agg_mode'),
    loss_scale_factor: by('sections'),
    use_token_level_loss: by('algorithm'),
    'router_replay.mode': by('trainer'),
    'profiler.**': PROFILER,
    rollout_n: same('is algorithm.repeat_times'),
    'optim.lr': number('algorithm.optimizer.lr'),
    'optim.lr_warmup_steps': by('sections'),
    'optim.lr_warmup_steps_ratio': number('algorithm.optimizer.lr_warmup_steps_ratio'),
    'optim.min_lr_ratio': number('algorithm.optimizer.min_lr_ratio'),
    'optim.weight_decay': number('algorithm.optimizer.weight_decay'),
    'optim.betas': value('algorithm.optimizer.betas'),
    'optim.clip_grad': number('algorithm.optimizer.clip_grad'),
    'optim.warmup_style': by('trainer'),
    'optim.lr_scheduler_type': by('trainer'),
    'optim.lr_decay_style': by('trainer'),
    'optim.optimizer': by('trainer'),
    'optim.min_lr': by('trainer'),
    'optim.total_training_steps': same('veRL fills it in; here it is trainer.total_steps'),
    'megatron.tensor_model_parallel_size': number('trainer.megatron.tensor_model_parallel_size'),
    'megatron.pipeline_model_parallel_size': number('trainer.megatron.pipeline_model_parallel_size'),
    'megatron.virtual_pipeline_model_parallel_size': number('trainer.megatron.virtual_pipeline_model_parallel_size'),
    'megatron.expert_model_parallel_size': number('trainer.megatron.expert_model_parallel_size'),
    'megatron.expert_tensor_parallel_size': number('trainer.megatron.expert_tensor_parallel_size'),
    'megatron.context_parallel_size': number('trainer.megatron.context_parallel_size'),
    'megatron.sequence_parallel': boolean('trainer.megatron.sequence_parallel'),
    '**': pass,
  }),
  ...section('actor_rollout_ref.ref', {
    'profiler.**': PROFILER,
    strategy: FOLLOWS,
    log_prob_use_dynamic_bsz: FOLLOWS,
    log_prob_max_token_len_per_gpu: FOLLOWS,
    ulysses_sequence_parallel_size: FOLLOWS,
    rollout_n: same('is algorithm.repeat_times'),
    '**': pass,
  }),
  ...section('actor_rollout_ref.rollout', {
    name: by('explorer'),
    n: by('algorithm'),
    temperature: number('model.temperature'),
    top_p: number('model.top_p'),
    top_k: by('trainer'),
    repetition_penalty: number('model.repetition_penalty'),
    tensor_model_parallel_size: by('explorer'),
    data_parallel_size: by('explorer'),
    pipeline_model_parallel_size: by('explorer'),
    expert_parallel_size: by('trainer'),
    gpu_memory_utilization: number(`${ROLLOUT_MODEL}.gpu_memory_utilization`),
    enforce_eager: boolean(`${ROLLOUT_MODEL}.enforce_eager`),
    enable_chunked_prefill: boolean(`${ROLLOUT_MODEL}.enable_chunked_prefill`),
    enable_prefix_caching: boolean(`${ROLLOUT_MODEL}.enable_prefix_caching`),
    dtype: text(`${ROLLOUT_MODEL}.dtype`),
    seed: number(`${ROLLOUT_MODEL}.seed`),
    ignore_eos: boolean(`${ROLLOUT_MODEL}.ignore_eos`),
    max_model_len: by('sections'),
    max_num_batched_tokens: by('trainer'),
    max_num_seqs: by('trainer'),
    swap_space: by('trainer'),
    'engine_kwargs.**': by('trainer'),
    'val_kwargs.**': by('tasksets'),
    log_prob_micro_batch_size: pass,
    log_prob_micro_batch_size_per_gpu: pass,
    log_prob_use_dynamic_bsz: FOLLOWS,
    log_prob_max_token_len_per_gpu: FOLLOWS,
    prompt_length: same('is model.max_prompt_tokens'),
    response_length: same('is model.max_response_tokens'),
    mode: same('rollout is always asynchronous'),
    do_sample: same('temperature 0 is greedy'),
    calculate_log_probs: same('the log-probabilities of the sampler are always recorded'),
    free_cache_engine: ENGINE,
    load_format: ENGINE,
    layered_summon: ENGINE,
    update_weights_bucket_megabytes: number(`${ROLLOUT_MODEL}.weight_sync_buffer_size`),
    'multi_turn.**': none('turns and tools belong to the workflow: default_workflow_type of a taskset'),
    'agent.**': none('agents are workflows here: default_workflow_type of a taskset'),
    '**': none('has no effect in Trinity; look under explorer.rollout_model'),
  }),
  ...section('actor_rollout_ref', { hybrid_engine: ENGINE, '**': pass }),
  ...section('critic', {
    'model.path': by('sections'),
    'profiler.**': PROFILER,
    strategy: FOLLOWS,
    rollout_n: same('is algorithm.repeat_times'),
    ppo_mini_batch_size: same('is buffer.train_batch_size'),
    use_dynamic_bsz: FOLLOWS,
    enable: same('follows from the algorithm'),
    '**': pass,
  }),
  ...section('reward_model', {
    enable: by('rewards'),
    'model.path': by('rewards'),
    reward_manager: REWARD,
    'overlong_buffer.**': REWARD,
    'reward_kwargs.**': REWARD,
    '**': none('a reward model is served by an inference engine here: see explorer.auxiliary_models'),
  }),
  ...section('reward', {
    'reward_model.enable': by('rewards'),
    'reward_model.**': none('a reward model is served by an inference engine here: see explorer.auxiliary_models'),
    '**': REWARD,
  }),
  ['custom_reward_function.**', REWARD],
  ['reward_manager.**', REWARD],
  ['sandbox_fusion.**', REWARD],
  ...section('trainer', {
    project_name: by('sections'),
    experiment_name: by('sections'),
    default_local_dir: by('sections'),
    resume_mode: by('sections'),
    resume_from_path: none(
      'the newest checkpoint of the job is used; to start from another model set model.model_path',
    ),
    val_only: by('sections'),
    nnodes: by('explorer'),
    n_gpus_per_node: by('explorer'),
    total_epochs: by('sections'),
    total_training_steps: by('sections'),
    save_freq: by('sections'),
    test_freq: by('sections'),
    val_before_train: by('sections'),
    logger: by('trainer'),
    critic_warmup: pass,
    balance_batch: boolean('trainer.balance_batch'),
    max_actor_ckpt_to_keep: number('trainer.max_checkpoints_to_keep'),
    max_critic_ckpt_to_keep: same('one number for all: trainer.max_checkpoints_to_keep'),
    rollout_data_dir: same('experiences are always kept in buffer/ of the job'),
    validation_data_dir: same('evaluation results are always kept in the job'),
    '**': none('Trinity has no such trainer setting'),
  }),
  ['model_engine', by('trainer')],
  ['rollout.**', by('explorer')],
  ['model.**', by('sections')],
  ['async_training.**', none('asynchrony is set by synchronizer.sync_style, sync_interval and sync_offset')],
  ['ray_init.**', none('Ray is configured by cluster.* and by the way it was started')],
  ['ray_kwargs.**', none('Ray is configured by cluster.* and by the way it was started')],
  ['global_profiler.**', PROFILER],
  ['hydra.**', none('files go to checkpoint_root_dir/project/name')],
  [
    'distillation.**',
    none('algorithm_type on_policy_distill with the teacher in explorer.auxiliary_models is the nearest'),
  ],
])

/** The rule for a key: its own, else that of the nearest enclosing `.**`. */
export function ruleFor(key: string): Rule {
  const exact = TABLE.get(key)
  if (exact) return exact
  const parts = key.split('.')
  for (let length = parts.length - 1; length > 0; length--) {
    const rule = TABLE.get(`${parts.slice(0, length).join('.')}.**`)
    if (rule) return rule
  }
  return { none: 'not a key that Trinity knows' }
}
