import {
  any,
  bool,
  dict,
  type Field,
  float,
  forEngine,
  idle,
  int,
  lenient,
  list,
  oneOf,
  section,
  str,
} from '../field.js'
import { AGG_MODES } from './algorithm.js'
import { engine, megatronEngine } from './trainer-config-engine.js'
import { actorOptim, criticOptim } from './trainer-config-optim.js'

/** The part of veRL's tree that users set below `trainer.trainer_config`. Null: from the main configuration. */
const main = <T>(field: Field<T>, key: string) => idle(field, `comes from ${key}`)

const checkpoint = lenient(
  'TrainerCheckpoint',
  'What a checkpoint holds.',
  forEngine({
    save_contents: list(str('', ''), 'Parts to save.', ['model', 'optimizer', 'extra']),
    load_contents: list(str('', ''), 'Parts to load.', ['model', 'optimizer', 'extra']),
    async_save: bool('Save in the background.', false),
    mbridge_config: dict('Megatron bridge.', { distributed_filesystem: true, memory_efficient: true, strict: false }),
  }),
)

const recompute = bool('Compute activations again in the backward pass instead of keeping them.', null, {
  auto: "the engine's own",
})

const model = lenient('TrainerModel', 'The policy model inside the trainer.', {
  path: main(str('Model.', null), 'model.model_path'),
  trust_remote_code: main(bool('Run code of the model.', null), 'model.trust_remote_code'),
  lora_rank: main(int('LoRA rank.', null), 'model.lora_configs'),
  lora_alpha: main(int('LoRA scale.', null), 'model.lora_configs'),
  target_modules: main(any('Layers with an adapter.'), 'model.lora_configs'),
  exclude_modules: main(any('Layers without.'), 'model.lora_configs'),
  lora_adapter_path: main(str('Adapter to start from.', null), 'model.lora_configs'),
  enable_gradient_checkpointing: recompute,
  use_remove_padding: bool('Compute without padding.', null, { auto: 'trainer.use_remove_padding' }),
  custom_chat_template: main(str('Chat template.', null), 'model.custom_chat_template'),
  rope_scaling: main(any('Position encoding.'), 'model.rope_scaling'),
  rope_theta: main(float('Position encoding.', null), 'model.rope_theta'),
  ...forEngine({
    use_shm: bool('Copy the model to shared memory first.', false),
    use_fused_kernels: bool('Fused output layer and loss.', false),
    fused_kernel_options: dict('Options of the fused kernels.'),
    enable_activation_offload: bool('Keep activations in main memory.', false),
    external_lib: str('Python package to import first.', null),
    override_config: dict('Changes to the config of the model.'),
    mtp: dict('Multi-token prediction.', { enable: false }),
    tiled_mlp: dict('Feed-forward layers in tiles.'),
  }),
})

const spread = {
  strategy: main(str('How the model is spread over GPUs.', null), 'trainer.trainer_strategy'),
  ulysses_sequence_parallel_size: main(
    int('GPUs over which a sequence is split.', null),
    'trainer.ulysses_sequence_parallel_size',
  ),
  use_remove_padding: main(bool('Compute without padding.', null), 'trainer.use_remove_padding'),
}
const common = {
  use_rollout_log_probs: main(bool('Take the log-probs of the rollout.', false), 'algorithm.bypass_old_logprobs'),
  checkpoint: section(checkpoint, 'Contents of checkpoints.'),
  fsdp_config: section(engine, 'FSDP.'),
  megatron: section(megatronEngine, 'Megatron.'),
  ...forEngine({
    use_prefix_grouper: bool('Share the work on common prompts.', false),
    entropy_from_logits_with_chunking: bool('Compute the entropy in pieces, with less memory.', false),
    entropy_checkpointing: bool('Compute the entropy again in the backward pass.', false),
    use_torch_compile: bool('Compile the model.', null, { auto: "the engine's own" }),
    router_replay: dict('Replay of the chosen experts.'),
    profiler: dict('Profiler.'),
    profile: dict('Profiler of older versions.'),
    load_weight: bool('Load the weights at the start.', true),
  }),
}
const one = { min: 1 }
const WHOLE = 'every update takes all experiences of a step'
const training = { min: 1, auto: 'as in training' }
const batches = {
  ppo_mini_batch_size: main(int('Experiences of one update.', null, { min: 0 }), 'buffer.train_batch_size'),
  ppo_micro_batch_size: int('Rows of a micro-batch over all GPUs.', null, one),
  ppo_micro_batch_size_per_gpu: int('Rows of a micro-batch, when use_dynamic_bsz is off.', null, one),
  ppo_max_token_len_per_gpu: int('Tokens of a micro-batch.', null, {
    ...one,
    auto: 'trainer.max_token_len_per_gpu',
  }),
  ppo_infer_max_token_len_per_gpu: int('Tokens of a micro-batch without gradient.', null, training),
  use_dynamic_bsz: bool('Pack micro-batches by tokens.', null, { auto: 'trainer.use_dynamic_bsz' }),
  ppo_epochs: int('Passes over a batch.', 1, one),
  data_loader_seed: int('Seed of what the trainer draws.', 42, { min: 0 }),
  rollout_n: main(int('Rollouts of a task.', null), 'algorithm.repeat_times'),
  grad_clip: float('Limit of the gradient norm.', null, { min: 0, auto: 'trainer.grad_clip' }),
  ...forEngine({
    use_cuda_graphs: bool('Record the passes of training as CUDA graphs.', false),
  }),
}
const logProbs = {
  log_prob_micro_batch_size: int('Rows of a micro-batch over all GPUs.', null, training),
  log_prob_micro_batch_size_per_gpu: int('Rows of a micro-batch, when use_dynamic_bsz is off.', null, training),
  log_prob_use_dynamic_bsz: main(bool('Pack by tokens.', null), 'trainer.use_dynamic_bsz'),
  log_prob_max_token_len_per_gpu: int('Tokens of a micro-batch.', null, training),
}

const actor = lenient('TrainerActor', 'Training of the policy.', {
  ...common,
  ...batches,
  strategy: str('How the model is spread over GPUs.', null, { auto: 'trainer.trainer_strategy' }),
  ulysses_sequence_parallel_size: int('GPUs over which a sequence is split.', null, {
    auto: 'trainer.ulysses_sequence_parallel_size',
  }),
  use_remove_padding: bool('Compute without padding.', null, { auto: 'trainer.use_remove_padding' }),
  shuffle: idle(bool('Shuffle rows within a batch.', false), WHOLE),
  optim: section(actorOptim, 'Optimizer.'),
  clip_ratio: main(float('Clip range.', null), 'algorithm.policy_loss_fn_args'),
  clip_ratio_low: main(float('Lower clip range.', null), 'algorithm.policy_loss_fn_args'),
  clip_ratio_high: main(float('Upper clip range.', null), 'algorithm.policy_loss_fn_args'),
  clip_ratio_c: main(float('Dual clip.', null), 'algorithm.policy_loss_fn_args'),
  entropy_coeff: main(float('Weight of the entropy.', null), 'algorithm.entropy_loss_fn_args'),
  use_kl_loss: main(bool('KL in the loss.', null), 'algorithm.kl_loss_fn'),
  kl_loss_coef: main(float('Weight of the KL.', null), 'algorithm.kl_loss_fn_args'),
  kl_loss_type: main(str('Kind of the KL.', null), 'algorithm.kl_loss_fn'),
  loss_agg_mode: main(str('Aggregation.', null), 'algorithm.loss_agg_mode'),
  loss_scale_factor: float('Divisor of seq-mean-token-sum-norm.', null, {
    min: 1,
    auto: 'length of the longest row',
  }),
  ...forEngine({
    freeze_vision_tower: bool('Do not train the vision part.', false),
    use_fused_kernels: bool('Fused output layer and loss.', false),
  }),
  policy_loss: main(dict('Policy loss of veRL.'), 'algorithm.policy_loss_fn'),
  calculate_sum_pi_squared: idle(bool('Sum of squared probabilities.', false), 'nothing here reads it'),
  sum_pi_squared_checkpointing: idle(bool('Compute it again in the backward pass.', false), 'nothing here reads it'),
  fix_actor_microbatch_loss_scale: idle(bool('Loss scale.', null), 'micro-batches never change the loss'),
})

const ref = lenient('TrainerRef', 'The frozen reference model.', {
  ...common,
  ...spread,
  ...logProbs,
  rollout_n: batches.rollout_n,
})

const rolloutPart = (field: Field) => idle(field, 'belongs to explorer.rollout_model')
const rollout = lenient('TrainerRollout', 'Computation of old log-probs; generation belongs to the explorer.', {
  ...logProbs,
  temperature: main(float('Temperature.', null), 'model.temperature'),
  n: main(int('Rollouts of a task.', null), 'algorithm.repeat_times'),
  name: rolloutPart(str('Engine.', null)),
  mode: rolloutPart(str('Mode.', null)),
  load_format: rolloutPart(str('Load format.', null)),
  skip_tokenizer_init: rolloutPart(bool('Tokenizer.', null)),
  enable_sleep_mode: rolloutPart(bool('Sleep mode.', null)),
  tensor_model_parallel_size: rolloutPart(int('GPUs of an engine.', null)),
  gpu_memory_utilization: rolloutPart(float('Memory.', null)),
  val_kwargs: rolloutPart(any('Evaluation sampling.')),
  multi_turn: rolloutPart(any('Multi-turn.')),
  checkpoint_engine: rolloutPart(any('Weight transfer.')),
})

const collective = forEngine({
  nccl_timeout: float('Seconds that workers wait for each other, and for a sign of life of each.', 600, { min: 1 }),
})

const actorRolloutRef = lenient('TrainerActorRolloutRef', 'Policy, reference and log-probs.', {
  hybrid_engine: idle(bool('Shared engine.', true), 'the explorer has its own engines'),
  model: section(model, 'Model.'),
  actor: section(actor, 'Policy.'),
  ref: section(ref, 'Reference.'),
  rollout: section(rollout, 'Old log-probs.'),
  ...collective,
})

const criticModel = lenient('TrainerCriticModel', 'The critic model.', {
  path: main(str('Model.', null), 'model.critic_model_path'),
  tokenizer_path: main(str('Tokenizer.', null), 'model.critic_model_path'),
  trust_remote_code: main(bool('Run code of the model.', null), 'model.trust_remote_code'),
  enable_gradient_checkpointing: recompute,
  use_remove_padding: spread.use_remove_padding,
  fsdp_config: section(engine, 'FSDP.'),
  ...forEngine({
    override_config: dict('Changes to the config of the model.'),
    external_lib: str('Python package to import first.', null),
    freeze_vision_tower: bool('Do not train the vision part.', false),
    rope_scaling: any('Position encoding.'),
    rope_theta: float('Position encoding.', null),
  }),
})

const critic = lenient('TrainerCritic', 'Training of the critic.', {
  ...common,
  ...spread,
  ...batches,
  enable: main(bool('Use a critic.', null), 'algorithm.algorithm_type'),
  model: section(criticModel, 'Model.'),
  optim: section(criticOptim, 'Optimizer.'),
  shuffle: idle(bool('Shuffle rows within a batch.', true), WHOLE),
  cliprange_value: float('Clip range of the value loss.', 0.5, { min: 0 }),
  loss_agg_mode: oneOf(AGG_MODES, 'Aggregation of the value loss.', 'token-mean'),
  forward_micro_batch_size: int('Rows of a micro-batch without gradient, over all GPUs.', null, training),
  forward_micro_batch_size_per_gpu: int('Rows of a micro-batch without gradient.', null, training),
  forward_max_token_len_per_gpu: int('Tokens of a micro-batch without gradient.', null, training),
  fsdp: section(engine, 'FSDP.'),
  ...collective,
  ray_namespace: main(str('Namespace.', null), 'ray_namespace'),
})

const elsewhere = (doc: string, where: string) => idle(any(doc), `set ${where} instead`)

/** `trainer.trainer_config`: only what a user sets is kept; defaults are those of the training engine. */
export const trainerConfig = lenient('TrainerBackend', "veRL's tree below trainer.trainer_config.", {
  actor_rollout_ref: section(actorRolloutRef, 'Policy, reference and log-probs.'),
  critic: section(critic, 'Critic (PPO).'),
  data: elsewhere('Data.', 'buffer'),
  reward_model: elsewhere('Reward model.', 'explorer.auxiliary_models'),
  reward: elsewhere('Reward.', 'explorer.auxiliary_models'),
  custom_reward_function: elsewhere('Reward function.', 'buffer.explorer_input.default_reward_fn_type'),
  algorithm: elsewhere('Algorithm.', 'algorithm'),
  trainer: elsewhere('Trainer.', 'trainer'),
  global_profiler: idle(any('Profiler.'), 'there is no such profiler here'),
  synchronizer: elsewhere('Synchronizer.', 'synchronizer'),
  enable_preview: elsewhere('Preview.', 'trainer.enable_preview'),
})
