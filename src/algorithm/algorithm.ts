import type { AggMode } from './entry.js'

/** The components of an algorithm unless the user names others. */
export interface AlgorithmDefaults {
  readonly sample_strategy: string
  /** Absent where no advantage is computed (schemas sft, dpo and cpt). */
  readonly advantage_fn?: string
  readonly kl_penalty_fn: string
  readonly policy_loss_fn: string
  readonly kl_loss_fn: string
  readonly entropy_loss_fn: string
  readonly loss_agg_mode?: AggMode
  /** Runs per task. */
  readonly repeat_times?: number
  /** `*_args` belong to the default function of their slot: they do not apply when the user chooses another one. */
  readonly sample_strategy_args?: Readonly<Record<string, unknown>>
  readonly advantage_fn_args?: Readonly<Record<string, unknown>>
  readonly policy_loss_fn_args?: Readonly<Record<string, unknown>>
  readonly kl_penalty_fn_args?: Readonly<Record<string, unknown>>
  readonly kl_loss_fn_args?: Readonly<Record<string, unknown>>
  readonly entropy_loss_fn_args?: Readonly<Record<string, unknown>>
}

/** An algorithm is a choice of components and four facts about what it needs. */
export interface Algorithm {
  readonly doc: string
  /** Trains a value model. */
  readonly use_critic: boolean
  /** May use a frozen copy of the initial policy; it is loaded only if a KL function or the loss reads it. */
  readonly use_reference: boolean
  readonly compute_advantage_in_trainer: boolean
  /** Rows may be re-ordered over ranks. */
  readonly can_balance_batch: boolean
  /** What the trainer's input looks like. */
  readonly schema: 'experience' | 'sft' | 'dpo' | 'cpt'
  readonly defaults: AlgorithmDefaults
}

type Flags = 'critic' | 'reference' | 'trainer' | 'unbalanced'

/**
 * Describes an algorithm for the registry. What it leaves out is what most share: PPO loss, k2 loss, default entropy, no penalty.
 * @example
 * import { algorithm, algorithms } from 'trinity-rft/algorithm'
 *
 * algorithms.add('grpo_no_kl', algorithm('GRPO without KL', [], { advantage_fn: 'grpo', kl_loss_fn: 'none', repeat_times: 8 }))
 */
export function algorithm(
  doc: string,
  flags: readonly Flags[],
  defaults: Partial<AlgorithmDefaults>,
  schema: Algorithm['schema'] = 'experience',
): Algorithm {
  return {
    doc,
    schema,
    use_critic: flags.includes('critic'),
    use_reference: flags.includes('reference'),
    compute_advantage_in_trainer: flags.includes('trainer'),
    can_balance_batch: !flags.includes('unbalanced'),
    defaults: {
      sample_strategy: 'default',
      policy_loss_fn: 'ppo',
      kl_penalty_fn: 'none',
      kl_loss_fn: 'k2',
      entropy_loss_fn: 'default',
      ...defaults,
    },
  }
}
