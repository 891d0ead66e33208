import { bool, derived, dict, float, idle, int, oneOf, record, section, str } from '../field.js'

const STRATEGIES = ['fsdp', 'fsdp2', 'megatron'] as const

export const megatron = record('MegatronParallelConfig', 'Parallel sizes of the Megatron strategy.', {
  tensor_model_parallel_size: int('GPUs over which a layer is split.', 1, { min: 1 }),
  pipeline_model_parallel_size: int('Pipeline stages.', 1, { min: 1 }),
  virtual_pipeline_model_parallel_size: int('Virtual stages of a GPU.', null, { min: 1 }),
  expert_model_parallel_size: int('GPUs over which experts are spread.', 1, { min: 1 }),
  expert_tensor_parallel_size: int('GPUs over which an expert is split.', null, { min: 1 }),
  context_parallel_size: int('GPUs over which a sequence is split.', 1, { min: 1 }),
  sequence_parallel: bool('Split activations along the sequence.', true),
})

export const trainer = record('TrainerConfig', 'Training.', {
  name: str('Name of the trainer in logs, files and metrics.', 'trainer'),
  trainer_type: str('Engine, by name (trinity doctor lists them). auto: the best that runs here.', 'auto'),
  trainer_strategy: oneOf(STRATEGIES, 'How the model is spread over GPUs.', 'fsdp2'),
  save_interval: int('Train steps between checkpoints; 0 saves at the end only.', 0, { min: 0 }),
  enable_preview: bool('Send a table of samples to the monitor.', false),
  total_steps: int('Train steps.', null, { min: 1, auto: 'buffer.total_steps in mode train' }),
  max_refused_updates: int(
    'Updates in a row with a loss or gradient that is not finite, after which the run fails; 0: it never does.',
    10,
    { min: 0 },
  ),
  save_hf_checkpoint: oneOf(['always', 'never', 'last'], 'Which checkpoints get a Hugging Face folder.', 'last'),
  save_dtype: oneOf(
    ['float32', 'bfloat16'],
    'Weights of the Hugging Face folder of a checkpoint; the native engine resumes from them.',
    'float32',
  ),
  grad_clip: float('Limit of the gradient norm.', 1, { min: 0 }),
  use_dynamic_bsz: bool('Pack micro-batches by tokens instead of counting sequences.', true),
  use_remove_padding: bool('Compute without padding.', true),
  balance_batch: bool('Give every GPU the same number of tokens.', true),
  critic_warmup: int('Step from which the policy learns too; before it, only the critic does.', 0, { min: 0 }),
  max_token_len_per_gpu: int('Tokens of a micro-batch.', null, {
    min: 1,
    auto: '2 × max_model_len / sequence parallel size; at least what the engine needs to be fast',
  }),
  ulysses_sequence_parallel_size: int('GPUs over which a sequence is split.', 1),
  fix_actor_microbatch_loss_scale: idle(bool('Old key.', false), 'micro-batches never change the loss'),
  exact_logprobs: bool(
    "Train with the sampler's own kernels: both sides give the same log-probs, to the last bit. Slower; see the torch engine.",
    false,
  ),
  param_offload: bool('Keep parameters in main memory.', false),
  optimizer_offload: bool('Keep the optimizer state in main memory.', false),
  grad_offload: bool('Keep gradients in main memory (Megatron).', false),
  offload_policy: bool("FSDP2's own offloading.", false),
  save_strategy: oneOf(
    ['single_thread', 'single_process', 'single_node', 'unrestricted'],
    'How many writers may write a checkpoint at once.',
    'unrestricted',
  ),
  max_checkpoints_to_keep: int('Older checkpoints are deleted; 0 keeps all.', 0, { min: 0 }),
  megatron: section(megatron, 'Megatron.'),
  trust_remote_code: derived(bool('Copy of model.trust_remote_code.', false)),
  trainer_config: dict("veRL's own tree, see TrainerBackend; unknown keys are passed on with a warning."),
  trainer_config_path: str('Old: file with the content of trainer_config.', ''),
})
