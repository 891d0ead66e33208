import { Registry } from '../base/registry.js'
import { type Algorithm, algorithm } from './algorithm.js'

const noTerms = { kl_loss_fn: 'none', entropy_loss_fn: 'none' } as const
const mixed = { advantage_fn: 'grpo', sample_strategy: 'mix', entropy_loss_fn: 'mix', repeat_times: 8 } as const

/** Algorithms by the name that `algorithm_type` gives. */
export const algorithms = new Registry<Algorithm>('algorithm', {
  sft: algorithm('supervised fine-tuning', [], { policy_loss_fn: 'sft', ...noTerms }, 'sft'),
  cpt: algorithm('continued pre-training on plain text', [], { policy_loss_fn: 'sft', ...noTerms }, 'cpt'),
  dpo: algorithm(
    'direct preference optimization',
    ['reference', 'unbalanced'],
    { policy_loss_fn: 'dpo', repeat_times: 2 },
    'dpo',
  ),
  ppo: algorithm('PPO with a critic', ['critic', 'reference', 'trainer'], { advantage_fn: 'ppo', repeat_times: 1 }),
  grpo: algorithm('group-relative policy optimization', ['reference'], { advantage_fn: 'grpo', repeat_times: 2 }),
  grpo_verl: algorithm('GRPO, advantages in the trainer', ['reference', 'trainer'], {
    advantage_fn: 'grpo_verl',
    repeat_times: 2,
  }),
  dapo: algorithm('GRPO without KL, higher upper clip, groups of equal rewards left out (DAPO)', [], {
    advantage_fn: 'grpo',
    advantage_fn_args: { std_threshold: 0, mask_truncated: true },
    policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.28 },
    loss_agg_mode: 'token-mean',
    kl_loss_fn: 'none',
    repeat_times: 16,
  }),
  reinforceplusplus: algorithm('REINFORCE++', ['reference', 'trainer'], {
    advantage_fn: 'reinforceplusplus',
    repeat_times: 2,
  }),
  rloo: algorithm('REINFORCE leave-one-out', ['reference', 'trainer'], { advantage_fn: 'rloo', repeat_times: 2 }),
  opmd: algorithm('online policy mirror descent', ['reference'], {
    advantage_fn: 'opmd',
    policy_loss_fn: 'opmd',
    repeat_times: 2,
  }),
  asymre: algorithm('asymmetric REINFORCE', [], {
    advantage_fn: 'asymre',
    policy_loss_fn: 'opmd',
    ...noTerms,
    repeat_times: 2,
  }),
  topr: algorithm('tapered off-policy REINFORCE', ['reference'], {
    advantage_fn: 'reinforce',
    policy_loss_fn: 'topr',
    repeat_times: 2,
  }),
  cispo: algorithm('clipped importance weights', ['reference'], {
    advantage_fn: 'grpo',
    policy_loss_fn: 'cispo',
    repeat_times: 2,
  }),
  gspo: algorithm('group sequence policy optimization', ['reference'], {
    advantage_fn: 'grpo',
    policy_loss_fn: 'gspo',
    repeat_times: 2,
  }),
  sapo: algorithm('soft adaptive policy optimization', ['reference'], {
    advantage_fn: 'grpo',
    policy_loss_fn: 'sapo',
    repeat_times: 2,
  }),
  sppo: algorithm('simplified PPO', [], { advantage_fn: 'opmd', policy_loss_fn: 'sppo', ...noTerms, repeat_times: 2 }),
  rec: algorithm('REINFORCE with clipping, weighting, regularization', ['reference'], {
    advantage_fn: 'rec',
    policy_loss_fn: 'rec',
    repeat_times: 2,
  }),
  raft: algorithm('SFT on the best rollouts of a group', [], {
    advantage_fn: 'raft',
    policy_loss_fn: 'sft',
    ...noTerms,
  }),
  mix: algorithm('rollouts and expert data', ['reference'], { ...mixed, policy_loss_fn: 'mix' }),
  mix_chord: algorithm('rollouts and expert data on a schedule (CHORD)', ['reference'], {
    ...mixed,
    policy_loss_fn: 'mix_chord',
  }),
  multi_step_grpo: algorithm('GRPO over runs of several steps', ['reference'], {
    advantage_fn: 'step_wise_grpo',
    repeat_times: 8,
  }),
  gigpo: algorithm('group-in-group policy optimization', ['reference'], {
    advantage_fn: 'gigpo',
    advantage_fn_args: { omega: 1, gamma: 1, fnorm: 'none', epsilon: 1e-6 },
    policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.2 },
    repeat_times: 8,
  }),
  on_policy_distill: algorithm('distillation on own rollouts', ['trainer'], {
    advantage_fn: 'on_policy_distill',
    advantage_fn_args: { kl_coef: 1 },
    ...noTerms,
    repeat_times: 8,
  }),
  jsd: algorithm('Jensen–Shannon distillation on own rollouts', ['trainer'], {
    advantage_fn: 'jsd',
    advantage_fn_args: { kl_coef: 1, lambda_coef: 0.5 },
    ...noTerms,
    repeat_times: 8,
  }),
  critique_grpo: algorithm('GRPO with rollouts refined by a critique', ['reference'], {
    advantage_fn: 'grpo',
    policy_loss_fn: 'critique_grpo',
    kl_loss_fn: 'k3',
    sample_strategy: 'critique_grpo',
    repeat_times: 8,
  }),
  grpo_reweight_adv: algorithm('GRPO with amplified successes', ['reference'], {
    advantage_fn: 'grpo_reweight_adv',
    repeat_times: 8,
  }),
  opmd_reweight_adv: algorithm('OPMD with amplified successes (R3L)', ['reference'], {
    advantage_fn: 'opmd_reweight_adv',
    policy_loss_fn: 'opmd',
    repeat_times: 8,
  }),
  R3L: algorithm('attempts with amplified successes, and imitation of what a retry has verified; no KL (R3L)', [], {
    advantage_fn: 'opmd_reweight_adv',
    policy_loss_fn: 'r3l',
    kl_loss_fn: 'none',
    repeat_times: 8,
  }),
  step_R3L: algorithm('R3L over runs of several steps', [], {
    advantage_fn: 'step_wise_opmd_reweight_adv',
    policy_loss_fn: 'r3l',
    kl_loss_fn: 'none',
    repeat_times: 8,
  }),
  step_opmd: algorithm('OPMD over runs of several steps', ['reference'], {
    advantage_fn: 'step_wise_opmd',
    policy_loss_fn: 'opmd',
    repeat_times: 8,
  }),
  step_opmd_reweight_adv: algorithm('OPMD over runs of several steps with amplified successes (R3L)', [], {
    advantage_fn: 'step_wise_opmd_reweight_adv',
    policy_loss_fn: 'opmd',
    kl_loss_fn: 'none',
    repeat_times: 8,
  }),
})
