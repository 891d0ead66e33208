import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import type { AdamStep, Row } from '../engine/contract.js'
import { makeSchedule, type Schedule } from './schedule/schedule.js'

/** How one model (policy or critic) is updated in a training step. */
export interface UpdateSettings {
  readonly schedule: Schedule
  readonly adam: Omit<AdamStep, 'lr'>
  readonly epochs: number
  /** Experiences of one update; undefined: all of the step. */
  readonly miniBatch?: number
  readonly shuffle: boolean
  readonly seed: number
  /** Tokens of a micro-batch. */
  readonly budget: (rows: readonly Row[]) => number
}

type Tree = Readonly<Record<string, unknown>>

/** The policy: `algorithm.optimizer`, and what users set below `trainer.trainer_config`. */
export function actorSettings(config: Config, total: number | undefined): UpdateSettings {
  const tree = child(child(config.trainer.trainer_config, 'actor_rollout_ref'), 'actor')
  const optim = child(tree, 'optim')
  const { optimizer } = config.algorithm
  checkOptimizer(optimizer.optimizer_type, 'algorithm.optimizer.optimizer_type')
  const schedule = makeSchedule(
    { ...optimizer, num_cycles: number(optim, 'num_cycles'), zero_indexed_step: flag(optim, 'zero_indexed_step') },
    number(optim, 'total_training_steps') ?? total,
  )
  return {
    schedule,
    adam: adam(optimizer, config, optim),
    shuffle: flag(tree, 'shuffle') ?? false,
    ...common(config, tree),
  }
}

/** What the critic has unless `trainer.trainer_config.critic` says otherwise. */
const CRITIC = {
  lr: 1e-5,
  lr_warmup_steps: -1,
  lr_warmup_steps_ratio: 0,
  min_lr_ratio: 0.01,
  lr_scheduler_type: 'constant',
  betas: [0.9, 0.999],
  weight_decay: 0.01,
  optimizer: 'adamw',
}

export interface CriticSettings extends UpdateSettings {
  readonly cliprange_value: number
  readonly loss_agg_mode: string
}

export function criticSettings(config: Config, total: number | undefined): CriticSettings {
  const tree = child(config.trainer.trainer_config, 'critic')
  const given = child(tree, 'optim')
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined))
  const optim = { ...CRITIC, ...(set as Partial<typeof CRITIC>) }
  checkOptimizer(optim.optimizer.toLowerCase(), 'trainer.trainer_config.critic.optim.optimizer')
  const schedule = makeSchedule(
    { ...optim, num_cycles: number(given, 'num_cycles'), zero_indexed_step: flag(given, 'zero_indexed_step') },
    number(given, 'total_training_steps') ?? total,
  )
  return {
    schedule,
    adam: adam(optim, config, given),
    shuffle: flag(tree, 'shuffle') ?? true,
    cliprange_value: number(tree, 'cliprange_value') ?? 0.5,
    loss_agg_mode: text(tree, 'loss_agg_mode') ?? 'token-mean',
    ...common(config, tree),
  }
}

function common(config: Config, tree: Tree): Pick<UpdateSettings, 'epochs' | 'miniBatch' | 'seed' | 'budget'> {
  return {
    epochs: number(tree, 'ppo_epochs') ?? 1,
    miniBatch: number(tree, 'ppo_mini_batch_size'),
    seed: number(tree, 'data_loader_seed') ?? 42,
    budget: tokenBudget(config, tree),
  }
}

function tokenBudget(config: Config, tree: Tree): UpdateSettings['budget'] {
  const longest = (batch: readonly Row[]) => batch.reduce((most, row) => Math.max(most, row.tokens.length), 1)
  return (batch) => microBatchTokens(config, tree, longest(batch))
}

/** By tokens, or as much as the given number of the longest rows takes. */
function microBatchTokens({ trainer }: Config, tree: Tree, longest: number): number {
  const rows = number(tree, 'ppo_micro_batch_size_per_gpu') ?? number(tree, 'ppo_micro_batch_size') ?? 1
  if (!(flag(tree, 'use_dynamic_bsz') ?? trainer.use_dynamic_bsz)) return rows * longest
  return number(tree, 'ppo_max_token_len_per_gpu') ?? trainer.max_token_len_per_gpu ?? 2 * longest
}

/** Tokens of a micro-batch when the longest row has so many. */
export function actorTokens(config: Config, longest: number): number {
  return microBatchTokens(config, child(child(config.trainer.trainer_config, 'actor_rollout_ref'), 'actor'), longest)
}

export function criticTokens(config: Config, longest: number): number {
  return microBatchTokens(config, child(config.trainer.trainer_config, 'critic'), longest)
}

function adam(optim: { betas: number[]; weight_decay: number }, config: Config, tree: Tree): Omit<AdamStep, 'lr'> {
  const [first, second] = optim.betas
  return {
    betas: [first, second],
    eps: number(child(tree, 'override_optimizer_config'), 'eps') ?? 1e-8,
    weightDecay: optim.weight_decay,
    gradClip: config.trainer.grad_clip,
  }
}

function checkOptimizer(name: string, path: string): void {
  if (name === 'adam' || name === 'adamw') return
  throw new TrinityError('trainer/optimizer', `there is no optimiser '${name}' here`, { path, hint: 'use adamw' })
}

function child(tree: unknown, key: string): Tree {
  const value = (tree as Tree | undefined)?.[key]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {}
}

function number(tree: Tree, key: string): number | undefined {
  const value = tree[key]
  return typeof value === 'number' && value > 0 ? value : undefined
}

function flag(tree: Tree, key: string): boolean | undefined {
  return typeof tree[key] === 'boolean' ? (tree[key] as boolean) : undefined
}

function text(tree: Tree, key: string): string | undefined {
  return typeof tree[key] === 'string' ? (tree[key] as string) : undefined
}
