import { z } from 'zod'
import { Registry } from '../registry.js'

export const AGG_MODES = ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'] as const
export type AggMode = (typeof AGG_MODES)[number]

export interface Entry {
  readonly doc: string
  readonly args: z.ZodObject
  /** Arguments of older configurations that are accepted and have no effect. */
  readonly ignored?: readonly string[]
}
export interface AlgorithmDefaults {
  readonly sample_strategy: string
  /** Absent where no advantage is computed (schemas sft, dpo and cpt). */
  readonly advantage_fn?: string
  readonly kl_penalty_fn: string
  readonly policy_loss_fn: string
  readonly kl_loss_fn: string
  readonly entropy_loss_fn: string
  readonly loss_agg_mode?: AggMode
  readonly repeat_times?: number
  /** Belong to the default function of the slot: not used when the user chooses another one. */
  readonly advantage_fn_args?: Readonly<Record<string, unknown>>
  readonly policy_loss_fn_args?: Readonly<Record<string, unknown>>
  readonly kl_loss_fn_args?: Readonly<Record<string, unknown>>
}
export interface Algorithm {
  readonly doc: string
  readonly use_critic: boolean
  readonly use_reference: boolean
  readonly compute_advantage_in_trainer: boolean
  readonly can_balance_batch: boolean
  readonly schema: 'experience' | 'sft' | 'dpo' | 'cpt'
  readonly defaults: AlgorithmDefaults
}

const num = (value: number) => z.number().default(value)
const bool = (value: boolean) => z.boolean().default(value)
const opt = (schema: z.ZodType = z.number()) => schema.nullable().default(null)
const mode = () => z.enum(AGG_MODES).nullable().default(null)
const entry = (doc: string, shape: z.ZodRawShape = {}): Entry => ({ doc, args: z.strictObject(shape) })
const std = () => z.enum(['group', 'batch']).default('group')
const opmd = () => ({ opmd_baseline: z.string().default('mean'), tau: num(1) })

export const advantageFns = new Registry<Entry>('advantage function', {
  ppo: entry('GAE', { gamma: num(1), lam: num(1) }),
  grpo: entry('group relative', {
    epsilon: num(1e-6),
    std_threshold: opt(),
    duplicate_experiences: bool(false),
    rank_penalty: opt(),
    std_cal_level: std(),
  }),
  grpo_verl: entry('grpo', { epsilon: num(1e-6) }),
  step_wise_grpo: entry('grpo over runs', {
    epsilon: num(1e-6),
    enable_step_norm: bool(false),
    std_threshold: opt(),
    std_cal_level: std(),
  }),
  gigpo: entry('gigpo', {
    omega: num(1),
    gamma: num(1),
    fnorm: z.enum(['none', 'std']).default('none'),
    epsilon: num(1e-6),
    step_reward_key: z.string().default('step_reward'),
    env_state_hash_key: z.string().default('env_state_hash'),
  }),
  reinforceplusplus: entry('reward to go, whitened', { gamma: num(1) }),
  reinforce: entry('reward'),
  remax: entry('remax'),
  rloo: entry('leave one out'),
  opmd: entry('opmd', opmd()),
  opmd_verl: entry('opmd', opmd()),
  asymre: entry('asymre', { baseline_shift: num(-0.1) }),
  asymre_verl: entry('asymre', { baseline_shift: num(-0.1) }),
  rec: entry('rec', { epsilon: num(1e-6), std_normalize: bool(false), drop: opt(z.enum(['balance'])) }),
  on_policy_distill: entry('teacher - student', { kl_coef: num(1) }),
  jsd: entry('jsd', { lambda_coef: num(0.5), kl_coef: num(1), temperature: num(1), chunk_size: opt() }),
  clipb: entry('clipb', { epsilon: num(1e-6), mu: num(2.5) }),
  clipv: entry('clipv', { epsilon: num(1e-6), mu: num(8.5), max_frac: num(1e-4) }),
  grpo_reweight_adv: entry('grpo reweighted', {
    epsilon: num(1e-6),
    std_cal_level: std(),
    alpha: num(3),
    rule: z.enum(['code', 'paper']).default('code'),
  }),
  opmd_reweight_adv: entry('opmd reweighted', {
    ...opmd(),
    alpha: num(3),
    rule: z.enum(['code', 'paper']).default('code'),
  }),
  step_wise_opmd: entry('opmd over runs', { ...opmd(), enable_step_norm: bool(false) }),
  step_wise_opmd_reweight_adv: entry('opmd over runs, reweighted', {
    ...opmd(),
    alpha: num(3),
    rule: z.enum(['code', 'paper']).default('code'),
    enable_step_norm: bool(false),
  }),
})
const clip = () => ({ clip_range: num(0.2), clip_range_low: opt(), clip_range_high: opt() })
const sizes = () => ({
  use_dynamic_bsz: z.boolean().nullish(),
  ppo_mini_batch_size: z.number().nullish(),
  ppo_micro_batch_size_per_gpu: z.number().nullish(),
  ngpus_trainer: z.number().nullish(),
  train_batch_size_usual: z.number().nullish(),
  train_batch_size_expert: z.number().nullish(),
})
const ignored = Object.keys(sizes())
const parts = () => ({ loss_agg_mode: mode(), sft_loss_agg_mode: mode(), grpo_loss_agg_mode: mode() })
export const policyLossFns = new Registry<Entry>('policy loss', {
  ppo: entry('ppo', {
    ...clip(),
    clip_ratio_c: num(3),
    loss_agg_mode: mode(),
    enable_sequence_masking: bool(false),
    delta_sequence_masking: num(0.1),
    fallback_to_policy_gradient: bool(false),
  }),
  opmd: entry('opmd', { tau: num(1), loss_agg_mode: mode() }),
  dpo: entry('dpo', { beta: num(0.1), label_smoothing: num(0) }),
  sft: entry('sft', { loss_agg_mode: mode() }),
  mix: { ...entry('mix', { mu: num(0.1), ...clip(), ...sizes(), ...parts() }), ignored },
  gspo: entry('gspo', {
    clip_range: opt(),
    clip_range_low: num(3e-4),
    clip_range_high: num(4e-4),
    loss_agg_mode: mode(),
  }),
  topr: entry('topr', { advantage_threshold: num(0), loss_agg_mode: mode() }),
  cispo: entry('cispo', {
    clip_range_low: num(1),
    clip_range_high: num(0.28),
    enable_mask_clip: bool(false),
    mask_clip_range_low: num(1),
    mask_clip_range_high: num(0.28),
    loss_agg_mode: mode(),
  }),
  sft_is: entry('sft_is', { loss_agg_mode: mode() }),
  sft_phi: entry('sft_phi', { loss_agg_mode: mode(), cutoff_prob: num(1) }),
  mix_chord: {
    ...entry('mix_chord', {
      mu_warmup_steps: num(0),
      mu_decay_steps: num(0),
      mu_peak: num(0.1),
      mu_valley: num(0.1),
      enable_phi_function: bool(true),
      ...clip(),
      ...sizes(),
      ...parts(),
    }),
    ignored,
  },
  sppo: entry('sppo', { epsilon: num(0.3), loss_agg_mode: mode() }),
  rec: entry('rec', {
    epsilon_low: num(0.2),
    epsilon_high: num(0.2),
    epsilon_low_prime: num(0.6),
    epsilon_high_prime: num(2),
    clip_mode: z.enum(['none', 'one-side', 'two-side', 'ring', 'gspo-one-side']).default('none'),
    weight: z.enum(['none', 'importance_sampling', 'gspo_importance_sampling', 'advantage']).default('none'),
    regularizer: z.enum(['none', 'k2', 'forward-kl']).default('none'),
    regularizer_coef: num(0),
    temp: num(1),
    loss_agg_mode: mode(),
  }),
  sapo: entry('sapo', { tau_pos: num(1), tau_neg: num(1.05), loss_agg_mode: mode() }),
  importance_sampling: entry('importance sampling', { loss_agg_mode: mode() }),
  critique_grpo: entry('critique_grpo', { ...clip(), gamma: num(0.1), loss_agg_mode: mode() }),
})
const kl = () => entry('kl', { adaptive: bool(false), kl_coef: num(0.001), target_kl: opt(), horizon: opt() })
export const klFns = new Registry<Entry>('KL function', {
  none: kl(),
  k1: kl(),
  k2: kl(),
  k3: kl(),
  low_var_kl: kl(),
  abs: kl(),
  corrected_k3: kl(),
})
const ent = () => entry('entropy', { entropy_coef: num(0) })
export const entropyLossFns = new Registry<Entry>('entropy loss', { default: ent(), mix: ent(), none: ent() })
const mixed = () => ({ expert_data_ratio: num(0.5), sft_dataset_name: z.string().default('sft_dataset') })
export const sampleStrategies = new Registry<Entry>('sample strategy', {
  default: entry('one read per step'),
  warmup: entry('alias of default'),
  staleness_control: entry('bounded staleness', { max_staleness: z.number().default(Number.POSITIVE_INFINITY) }),
  mix: entry('expert and usual', mixed()),
  critique_grpo: entry('one read per step, off-policy rows marked'),
})

const make = (
  flags: string,
  schema: Algorithm['schema'],
  defaults: Partial<AlgorithmDefaults>,
  doc = '',
): Algorithm => ({
  doc,
  schema,
  use_critic: flags[0] === '1',
  use_reference: flags[1] === '1',
  compute_advantage_in_trainer: flags[2] === '1',
  can_balance_batch: flags[3] === '1',
  defaults: {
    sample_strategy: 'default',
    policy_loss_fn: 'ppo',
    kl_penalty_fn: 'none',
    kl_loss_fn: 'k2',
    entropy_loss_fn: 'default',
    ...defaults,
  },
})
const off = { kl_loss_fn: 'none', entropy_loss_fn: 'none' }
export const algorithms = new Registry<Algorithm>('algorithm', {
  sft: make('0001', 'sft', { policy_loss_fn: 'sft', ...off }),
  cpt: make('0001', 'cpt', { policy_loss_fn: 'sft', ...off }),
  ppo: make('1111', 'experience', { advantage_fn: 'ppo', repeat_times: 1 }),
  grpo: make('0101', 'experience', { advantage_fn: 'grpo', repeat_times: 2 }),
  dapo: make('0001', 'experience', { advantage_fn: 'grpo', kl_loss_fn: 'none', repeat_times: 16 }),
  reinforceplusplus: make('0111', 'experience', { advantage_fn: 'reinforceplusplus', repeat_times: 2 }),
  rloo: make('0111', 'experience', { advantage_fn: 'rloo', repeat_times: 2 }),
  opmd: make('0101', 'experience', { advantage_fn: 'opmd', policy_loss_fn: 'opmd', repeat_times: 2 }),
  asymre: make('0001', 'experience', { advantage_fn: 'asymre', policy_loss_fn: 'opmd', ...off, repeat_times: 2 }),
  dpo: make('0100', 'dpo', { policy_loss_fn: 'dpo', repeat_times: 2 }),
  topr: make('0101', 'experience', { advantage_fn: 'reinforce', policy_loss_fn: 'topr', repeat_times: 2 }),
  cispo: make('0101', 'experience', { advantage_fn: 'grpo', policy_loss_fn: 'cispo', repeat_times: 2 }),
  gspo: make('0101', 'experience', { advantage_fn: 'grpo', policy_loss_fn: 'gspo', repeat_times: 2 }),
  sapo: make('0101', 'experience', { advantage_fn: 'grpo', policy_loss_fn: 'sapo', repeat_times: 2 }),
  mix: make('0101', 'experience', {
    advantage_fn: 'grpo',
    policy_loss_fn: 'mix',
    entropy_loss_fn: 'mix',
    sample_strategy: 'mix',
    repeat_times: 8,
  }),
  mix_chord: make('0101', 'experience', {
    advantage_fn: 'grpo',
    policy_loss_fn: 'mix_chord',
    entropy_loss_fn: 'mix',
    sample_strategy: 'mix',
    repeat_times: 8,
  }),
  raft: make('0001', 'experience', { advantage_fn: 'grpo', policy_loss_fn: 'sft', ...off }),
  sppo: make('0001', 'experience', { advantage_fn: 'opmd', policy_loss_fn: 'sppo', ...off, repeat_times: 2 }),
  rec: make('0101', 'experience', { advantage_fn: 'rec', policy_loss_fn: 'rec', repeat_times: 2 }),
  multi_step_grpo: make('0101', 'experience', { advantage_fn: 'step_wise_grpo', repeat_times: 8 }),
  gigpo: make('0101', 'experience', {
    advantage_fn: 'gigpo',
    advantage_fn_args: { omega: 1, gamma: 1, fnorm: 'none', epsilon: 1e-6 },
    policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.2, loss_agg_mode: 'token-mean' },
    repeat_times: 8,
  }),
  on_policy_distill: make('0011', 'experience', {
    advantage_fn: 'on_policy_distill',
    advantage_fn_args: { kl_coef: 1 },
    ...off,
    repeat_times: 8,
  }),
  jsd: make('0011', 'experience', {
    advantage_fn: 'jsd',
    advantage_fn_args: { kl_coef: 1, lambda_coef: 0.5 },
    ...off,
    repeat_times: 8,
  }),
  grpo_verl: make('0111', 'experience', { advantage_fn: 'grpo_verl', repeat_times: 2 }),
  critique_grpo: make('0101', 'experience', {
    advantage_fn: 'grpo',
    policy_loss_fn: 'critique_grpo',
    kl_loss_fn: 'k3',
    sample_strategy: 'critique_grpo',
    repeat_times: 8,
  }),
  grpo_reweight_adv: make('0101', 'experience', { advantage_fn: 'grpo_reweight_adv', repeat_times: 8 }),
  opmd_reweight_adv: make('0101', 'experience', {
    advantage_fn: 'opmd_reweight_adv',
    policy_loss_fn: 'opmd',
    repeat_times: 8,
  }),
  step_opmd: make('0101', 'experience', { advantage_fn: 'step_wise_opmd', policy_loss_fn: 'opmd', repeat_times: 8 }),
  step_opmd_reweight_adv: make('0001', 'experience', {
    advantage_fn: 'step_wise_opmd_reweight_adv',
    policy_loss_fn: 'opmd',
    ...off,
    entropy_loss_fn: 'default',
    repeat_times: 8,
  }),
})
