import type { TrinityError } from '../base/error.js'
import type { LogDir } from '../base/log/logger.js'
import type { Config, EngineFacts, PlanLine } from '../config/index.js'
import type { Card } from '../machine/doctor/cards.js'
import type { Check, EngineVerdict } from '../machine/doctor/check.js'
import type { Roster } from '../machine/ground/roster.js'
import type { RayGround } from '../machine/ray/ground.js'
import type { ModelConfig } from '../model/config.js'
import type { Caps, Engine } from './contract.js'

/**
 * What an engine says of itself: everything that the rest of the program knows about it. One object in the folder of each
 * engine, and one line in the registry; loading it must not load the engine.
 */
export interface EngineDescription extends EngineFacts {
  /** One line for people. */
  readonly doc: string
  /** What the engine can do at most; `Engine.caps` says it of one that is open. */
  readonly caps: Caps
  /** Activations are computed again in the backward pass unless a configuration says no. */
  readonly recomputes?: boolean
  open(config: Config, context: EngineContext): Promise<Engine>
  /** Why this machine should not train the model, with the numbers; undefined: it may. */
  refuses?(model: ModelConfig, config: Config, needs: TrainingNeeds): TrinityError | undefined
  /** The most tokens that a sequence of this model may have; absent: it takes what it is told, or says so itself. */
  longest?(model: ModelConfig): number
  /** What a run takes of the memory of its GPUs, for a dry run. */
  memory?(config: Config, needs: TrainingNeeds, read: ReadModel, card?: Card): Promise<MemoryWords>
  /** What the doctor's checks mean for this engine; absent: it needs nothing of the machine. */
  verdict?(checks: readonly Check[]): Omit<EngineVerdict, 'engine'>
}

/** What an engine may use when it is opened. */
export interface EngineContext {
  /** Where workers write what they say. */
  readonly logs?: LogDir
  /** Where it is written down what they do. */
  readonly roster?: Roster
  /** The cluster that places them, opened for the first who asks; undefined: they are processes of this machine. */
  ground?(): Promise<RayGround | undefined>
  readonly needs: TrainingNeeds
  readonly readModel: ReadModel
  note(text: string): void
}

/** What training with a configuration asks of the models. */
export interface TrainingNeeds {
  readonly critic: boolean
  /** Log-probs of the first policy are read by the loss or by the KL penalty. */
  readonly reference: boolean
  /** The reference is the policy without its adapter: no second model has to be opened. */
  readonly referenceIsBase: boolean
  /** Rows of a bundle are computed together. */
  readonly bundles: boolean
  /** Tokens of a micro-batch when the longest row has so many. */
  actorTokens(longest: number): number
  referenceTokens(longest: number): number
  criticTokens(longest: number): number
}

/** Configurations of models by `model_path`. */
export type ReadModel = (path: string) => Promise<ModelConfig>

export type { Card } from '../machine/doctor/cards.js'

export interface MemoryWords {
  readonly lines: PlanLine[]
  /** What a run would stop at. */
  readonly warnings: string[]
}
