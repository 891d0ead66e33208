import { bool, dict, float, int, list, oneOf, record, section, str, unset } from '../field.js'

const SCHEDULES = ['constant', 'cosine', 'linear'] as const
export const AGG_MODES = ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'] as const

export const optimizer = record('OptimizerConfig', 'The optimizer of the policy.', {
  lr: float('Learning rate.', 1e-6, { min: 0 }),
  lr_warmup_steps: int('Steps over which the learning rate rises from 0; below 0 uses the ratio.', -1),
  lr_warmup_steps_ratio: float('Warm-up as a share of all steps.', 0, { min: 0, max: 1 }),
  min_lr_ratio: float('Where the schedule ends, as a share of lr.', 0.01, { min: 0 }),
  warmup_style: str('Old name of lr_scheduler_type; wins over it when set.', null),
  lr_scheduler_type: oneOf(SCHEDULES, 'How the learning rate changes after the warm-up.', 'constant', {
    accept: (text) => (/^[a-z_]+$/.test(text) ? text : undefined),
    openText: 'a schedule the training engine knows',
  }),
  optimizer_type: oneOf(['adam', 'adamw', 'sgd'], 'Update rule (adam means AdamW).', 'adam', {
    accept: (text) => (/^\w+$/.test(text) ? text : undefined),
    openText: 'an optimizer the training engine knows',
  }),
  betas: list(float('', 0), 'Decay of the two moments of Adam.', [0.9, 0.999]),
  weight_decay: float('Decoupled weight decay.', 0.01),
  clip_grad: float('Limit of the gradient norm of the policy.', null, { min: 0, auto: 'trainer.grad_clip' }),
})

const args = (what: string) =>
  unset(dict(`Arguments of ${what}; those left out keep the function's defaults.`), 'defaults of the function')
const component = (what: string) => str(`Name of the ${what}.`, null, { auto: "the algorithm's own" })

export const algorithm = record('AlgorithmConfig', 'What is learned from the experiences.', {
  algorithm_type: str('Name of the algorithm; it sets the components below.', 'ppo'),
  repeat_times: int('Rollouts of each task.', null, { min: 1, auto: "the algorithm's own (grpo 2, dapo 16, ...)" }),
  optimizer: section(optimizer, 'Optimizer of the policy.'),
  sample_strategy: component('way in which the trainer reads the buffer'),
  sample_strategy_args: args('the sample strategy'),
  advantage_fn: component('advantage function'),
  advantage_fn_args: args('the advantage function'),
  kl_penalty_fn: component('KL function subtracted from the reward'),
  kl_penalty_fn_args: args('the KL penalty'),
  policy_loss_fn: component('policy loss'),
  policy_loss_fn_args: args('the policy loss'),
  kl_loss_fn: component('KL function added to the loss'),
  kl_loss_fn_args: args('the KL loss'),
  entropy_loss_fn: component('entropy loss'),
  entropy_loss_fn_args: args('the entropy loss'),
  loss_agg_mode: oneOf(AGG_MODES, 'How token losses become one number.', null, {
    auto: "the policy loss's own, else token-mean",
  }),
  enable_router_replay: bool('Mixture of experts: train with the experts the rollout engine chose.', false),
  bypass_old_logprobs: bool('Take the rollout log-probs as the old ones instead of computing them again.', true),
  rollout_correction: unset(dict("veRL's rollout correction: bypass_mode, rollout_is, rollout_rs, ...")),
})
