import { TrinityError } from '../base/error.js'
import { type Config, type TrainerTree, trainerTree } from '../config/index.js'
import type { AdamStep } from '../engine/contract.js'
import { type Budget, budgetOf, criticTokens, policyTokens } from './micro-batch.js'
import { makeSchedule, type Schedule } from './schedule/schedule.js'

/** How one model (policy or critic) is updated in a training step. */
export interface UpdateSettings {
  readonly schedule: Schedule
  readonly adam: Omit<AdamStep, 'lr'>
  /** Updates of a step; each takes all its experiences. */
  readonly epochs: number
  readonly seed: number
  readonly budget: Budget
  /** Of passes without a gradient. */
  readonly scoreBudget: Budget
}

export interface ActorSettings extends UpdateSettings {
  readonly referenceBudget: Budget
}

/** The policy: `algorithm.optimizer`, and what users set below `trainer.trainer_config`. */
export function actorSettings(config: Config, total: number | undefined): ActorSettings {
  const { actor } = trainerTree(config).actor_rollout_ref
  const { optimizer } = config.algorithm
  checkOptimizer(optimizer.optimizer_type, 'algorithm.optimizer.optimizer_type')
  const tokens = policyTokens(config)
  return {
    schedule: makeSchedule({ ...optimizer, ...shape(actor.optim) }, stepsOf(actor.optim) ?? total),
    adam: adam({ ...actor.optim, ...optimizer }, optimizer.clip_grad ?? config.trainer.grad_clip),
    ...common(actor),
    budget: budgetOf(tokens.train),
    scoreBudget: budgetOf(tokens.score),
    referenceBudget: budgetOf(tokens.reference),
  }
}

export interface CriticSettings extends UpdateSettings, Pick<Critic, 'cliprange_value' | 'loss_agg_mode'> {}

export function criticSettings(config: Config, total: number | undefined): CriticSettings {
  const { critic } = trainerTree(config)
  const { optim } = critic
  checkOptimizer(optim.optimizer.toLowerCase(), 'trainer.trainer_config.critic.optim.optimizer')
  const tokens = criticTokens(config)
  return {
    schedule: makeSchedule(optim, stepsOf(optim) ?? total),
    adam: adam(optim, optim.clip_grad ?? critic.grad_clip ?? config.trainer.grad_clip),
    ...common(critic),
    cliprange_value: critic.cliprange_value,
    loss_agg_mode: critic.loss_agg_mode,
    budget: budgetOf(tokens.train),
    scoreBudget: budgetOf(tokens.score),
  }
}

type Critic = TrainerTree['critic']
type Optim = TrainerTree['actor_rollout_ref']['actor']['optim'] | Critic['optim']

function common(part: TrainerTree['actor_rollout_ref']['actor'] | Critic) {
  return { epochs: part.ppo_epochs, seed: part.data_loader_seed }
}

function shape({ num_cycles, zero_indexed_step }: Optim) {
  return { num_cycles, zero_indexed_step }
}

/** veRL's own files say -1 for the steps of the run. */
function stepsOf({ total_training_steps: steps }: Optim): number | undefined {
  return steps !== null && steps > 0 ? steps : undefined
}

interface Moments extends Pick<Optim, 'override_optimizer_config'> {
  readonly betas: readonly number[]
  readonly weight_decay: number
}

function adam({ betas: [first, second], ...optim }: Moments, gradClip: number): Omit<AdamStep, 'lr'> {
  const { eps } = optim.override_optimizer_config
  return { betas: [first, second], eps, weightDecay: optim.weight_decay, gradClip }
}

function checkOptimizer(name: string, path: string): void {
  if (name === 'adam' || name === 'adamw') return
  throw new TrinityError('config/optimizer', `there is no optimizer '${name}' here`, { path, hint: 'use adamw' })
}
