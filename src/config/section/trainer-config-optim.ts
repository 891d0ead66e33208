import { bool, float, idle, int, lenient, list, orDefault, section, str, unset } from '../field.js'

const override = lenient('TrainerOptimOverride', 'Further arguments of the update rule.', {
  eps: float('Added to the root of the second moment.', 1e-8, { min: 0 }),
})

/** What the optimizers of policy and critic have in common. */
const common = {
  optimizer_impl: idle(str('Python module of the update rule.', 'torch.optim'), 'the engine has its own AdamW'),
  num_cycles: float('Cycles of a cosine schedule.', 0.5, { min: 0 }),
  total_training_steps: int('Length of the schedule; below 1 is null.', null, { auto: 'the steps of the run' }),
  lr_warmup_init: idle(float('Megatron: rate at the start of the warm-up.', null), 'the warm-up starts at 0'),
  lr_decay_steps: idle(int('Megatron: length of the decay.', null), 'use total_training_steps'),
  lr_decay_style: idle(str('Megatron: kind of the decay.', null), 'use lr_scheduler_type'),
  min_lr: idle(float('Megatron: lowest rate.', null), 'use min_lr_ratio'),
  weight_decay_incr_style: idle(
    str('Megatron: growth of the weight decay.', 'constant'),
    'the weight decay is constant',
  ),
  lr_wsd_decay_style: idle(
    str('Megatron: decay of warm-up-stable-decay.', 'exponential'),
    'there is no such schedule here',
  ),
  lr_wsd_decay_steps: idle(int('Megatron: length of that decay.', null), 'there is no such schedule here'),
  use_checkpoint_opt_param_scheduler: idle(
    bool('Megatron: take the schedule from the checkpoint.', false),
    'the schedule is the one of the configuration',
  ),
  override_optimizer_config: orDefault(section(override, 'Further arguments.')),
  zero_indexed_step: bool('The first step is step 0.', true),
}

const auto = (key: string) => ({ auto: `algorithm.optimizer.${key}` })

/** The optimizer of the policy: what has a place in `algorithm.optimizer` is moved there when a file is read. */
export const actorOptim = lenient('TrainerActorOptim', 'Optimizer of the policy; it wins over algorithm.optimizer.', {
  optimizer: str('Update rule.', null, auto('optimizer_type')),
  lr: float('Learning rate.', null, auto('lr')),
  lr_warmup_steps: int('Warm-up in steps.', null, auto('lr_warmup_steps')),
  lr_warmup_steps_ratio: float('Warm-up as a share of all steps.', null, {
    ...{ min: 0, max: 1 },
    ...auto('lr_warmup_steps_ratio'),
  }),
  min_lr_ratio: float('Where the schedule ends, as a share of lr.', null, auto('min_lr_ratio')),
  warmup_style: str('Schedule, in older files.', null, auto('lr_scheduler_type')),
  lr_scheduler_type: str('Schedule.', null, auto('lr_scheduler_type')),
  betas: unset(list(float('', 0), 'Decay of the moments.'), auto('betas').auto),
  clip_grad: float('Limit of the gradient norm.', null, auto('clip_grad')),
  weight_decay: float('Weight decay.', null, auto('weight_decay')),
  ...common,
})

export const criticOptim = lenient('TrainerCriticOptim', 'Optimizer of the critic.', {
  optimizer: orDefault(str('Update rule.', 'adamw')),
  lr: orDefault(float('Learning rate.', 1e-5, { min: 0 })),
  lr_warmup_steps: orDefault(int('Steps over which the learning rate rises from 0; below 0 uses the ratio.', -1)),
  lr_warmup_steps_ratio: orDefault(float('Warm-up as a share of all steps.', 0, { min: 0, max: 1 })),
  min_lr_ratio: orDefault(float('Where the schedule ends, as a share of lr.', 0.01, { min: 0 })),
  warmup_style: str('Old name of lr_scheduler_type; wins over it when set.', null),
  lr_scheduler_type: orDefault(str('Schedule.', 'constant')),
  betas: orDefault(list(float('', 0), 'Decay of the moments.', [0.9, 0.999])),
  clip_grad: float('Limit of the gradient norm.', null, { min: 0, auto: 'critic.grad_clip, else trainer.grad_clip' }),
  weight_decay: orDefault(float('Weight decay.', 0.01)),
  ...common,
})
