import type { ArgumentSchema } from '../base/arguments.js'
import type { Facts } from './resolve/facts.js'
import type { Config } from './section/config.js'

/** The registries a configuration is checked against. Structural, so that this folder imports none of them. */
export interface Catalog {
  readonly engines: EngineLookup
  readonly algorithms: Lookup<AlgorithmFacts>
  readonly advantageFns: Lookup<Component>
  readonly policyLossFns: Lookup<Component>
  readonly klFns: Lookup<Component>
  readonly entropyLossFns: Lookup<Component>
  readonly sampleStrategies: Lookup<Component>
  readonly selectors: Lookup<Component>
  readonly priorityFns: Lookup<Component>
  readonly operators: Lookup<Component>
  readonly monitors: Lookup<Component>
  readonly rewardFns: Lookup<Component>
  /** Those that say what arguments they take. */
  readonly workflows: Lookup<Component>
}

export interface Lookup<T> {
  readonly kind: string
  find(name: string): T | undefined
  names(): string[]
}

export interface Component {
  readonly args: ArgumentSchema
  readonly ignored?: readonly string[]
  /** The aggregation a policy loss prefers: always, or with its arguments. */
  readonly loss_agg_mode?: Preferred<string>
  /** How many feature columns a selector needs, at least and at most. */
  readonly features?: readonly [min: number, max: number]
}

type Preferred<M> = M | ((args: Record<string, unknown>) => M | undefined)

/** The aggregation that a policy loss prefers with these arguments. */
export function preferredMode<M extends string>(
  { loss_agg_mode: own }: { readonly loss_agg_mode?: Preferred<M> },
  args: Record<string, unknown>,
): M | undefined {
  return typeof own === 'function' ? own(args) : own
}

/** What the rules of a configuration have to know of an engine. */
export interface EngineFacts {
  readonly name: string
  /** Words of existing files that mean this engine where it can run, and the best other one where it cannot. */
  readonly aliases?: readonly string[]
  readonly roles: readonly EngineRole[]
  /** Ways in which weights leave its trained models and reach its samplers. */
  readonly weights: readonly string[]
  /** `takes`: computes on the GPUs of the split. `plans`: needs none, but works out the split that a file asks for. */
  readonly gpus: 'takes' | 'plans' | 'none'
  /** Trainer and sampler share one GPU: each gives up its memory while the other computes. */
  readonly colocates?: boolean
  /** False: it runs without a model directory. */
  readonly needsModel?: boolean
  /** Its models are those of services: named, asked over the network, and never trained. */
  readonly hosted?: boolean
  /** A micro-batch of fewer tokens would be slow. */
  readonly leastTokens?: number
  /** What it needs is on this machine; absent: always. */
  canRun?(facts: Facts, config: Config): boolean
  /** Its own name, like an alias, means the best other engine where it cannot run: files name it out of habit. */
  readonly replaceable?: boolean
  /** How much `auto` likes it for this job on this machine; 0 or absent: it is not chosen by itself. */
  preference?(facts: Facts, config: Config): number
  /** Why it was chosen and not a GPU. */
  why?(facts: Facts, config: Config): string
  /** Keys that it does not read, and in a few words why not: `uses no GPU`. */
  ignores?(config: Config): readonly IgnoredKeys[]
  /** A key of its own asks for it. */
  claims?(config: Config): boolean
}

/** Keys without effect on an engine, for one reason. */
export interface IgnoredKeys {
  readonly keys: readonly string[]
  readonly why: string
}

export type EngineRole = 'train' | 'sample' | 'score' | 'reward'

export interface EngineLookup extends Lookup<EngineFacts> {
  /** By name or alias. */
  find(word: string): EngineFacts | undefined
  all(): readonly EngineFacts[]
}

export interface AlgorithmFacts {
  readonly use_critic: boolean
  readonly use_reference: boolean
  readonly compute_advantage_in_trainer: boolean
  readonly schema: 'experience' | 'sft' | 'dpo' | 'cpt'
  readonly defaults: Readonly<Record<string, unknown>>
}
