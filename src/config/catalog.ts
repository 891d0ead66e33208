import type { ArgumentSchema } from '../base/arguments.js'

/** The registries a configuration is checked against. Structural, so that this folder imports none of them. */
export interface Catalog {
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
  /** The aggregation a policy loss prefers. */
  readonly loss_agg_mode?: string
  /** How many feature columns a selector needs, at least and at most. */
  readonly features?: readonly [min: number, max: number]
}

export interface AlgorithmFacts {
  readonly use_critic: boolean
  readonly use_reference: boolean
  readonly compute_advantage_in_trainer: boolean
  readonly schema: 'experience' | 'sft' | 'dpo' | 'cpt'
  readonly defaults: Readonly<Record<string, unknown>>
}
