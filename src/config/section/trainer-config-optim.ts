import { bool, dict, float, int, lenient, list, str, unset } from '../field.js'

/** An optimiser of veRL's tree. For the policy, algorithm.optimizer is the place to set it. */
export const optim = lenient('TrainerOptim', 'Optimiser of a model inside the trainer.', {
  optimizer: str('Update rule.', null),
  optimizer_impl: str('Python module of the update rule.', 'torch.optim'),
  lr: float('Learning rate.', null),
  lr_warmup_steps: int('Warm-up in steps.', null),
  lr_warmup_steps_ratio: float('Warm-up as a share of all steps.', null),
  min_lr_ratio: float('Where the schedule ends, as a share of lr.', null),
  warmup_style: str('Schedule, in older files.', null),
  lr_scheduler_type: str('Schedule.', null),
  num_cycles: float('Cycles of a cosine schedule.', 0.5),
  total_training_steps: int('Length of the schedule.', null),
  betas: unset(list(float('', 0), 'Decay of the moments.')),
  clip_grad: float('Limit of the gradient norm.', null),
  weight_decay: float('Weight decay.', null),
  lr_warmup_init: float('Megatron: rate at the start of the warm-up.', null),
  lr_decay_steps: int('Megatron: length of the decay.', null),
  lr_decay_style: str('Megatron: kind of the decay.', null),
  min_lr: float('Megatron: lowest rate.', null),
  weight_decay_incr_style: str('Megatron: growth of the weight decay.', 'constant'),
  lr_wsd_decay_style: str('Megatron: decay of warm-up-stable-decay.', 'exponential'),
  lr_wsd_decay_steps: int('Megatron: length of that decay.', null),
  use_checkpoint_opt_param_scheduler: bool('Megatron: take the schedule from the checkpoint.', false),
  override_optimizer_config: unset(dict('Further arguments.')),
  zero_indexed_step: bool('The first step is step 0.', true),
})
