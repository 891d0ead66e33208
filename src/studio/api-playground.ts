import type { Json, Rollout } from './api.js'

/** Types of the playground: models to talk to, and tasks to try. */

export interface ModelList {
  readonly models: readonly ModelChoice[]
}

export interface ModelChoice {
  /** Absolute: a model directory. */
  readonly path: string
  /** Of its folder: `quickstart/model`; of a checkpoint: `step 4`. */
  readonly name: string
  /** Of the run whose checkpoint, or whose first model, it is. */
  readonly run?: string
  /** Absent: no checkpoint. */
  readonly step?: number
  readonly isBest?: boolean
  /** It is in memory now. */
  readonly isOpen?: boolean
}

export interface Sampling {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly maxTokens?: number
  readonly seed?: number
  readonly repetitionPenalty?: number
}

export interface ChatQuery {
  readonly model: string
  /** All that was said, the question last. */
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[]
  /** No chat: the model goes on with the text. */
  readonly isPlain?: boolean
  readonly sampling?: Sampling
}

/** What is heard before the reply is there. */
export interface ChatPart {
  readonly text?: string
  /** What the model is busy with. */
  readonly note?: string
}

export interface ChatReply {
  readonly text: string
  readonly tokens: readonly ReplyToken[]
  /** `context`: cut where the model can hold no more. `full`: it does not fit into the model any more. */
  readonly end: 'stop' | 'length' | 'context' | 'full'
  /** Tokens that the model reads and writes together. */
  readonly context: number
  readonly seconds: number
}

export interface ReplyToken {
  readonly text: string
  readonly probability: number
  /** What might have stood in its place, the likeliest first. */
  readonly others: readonly { readonly text: string; readonly probability: number }[]
}

export interface CloseQuery {
  readonly model: string
}

/** The task sets of a run, those it trains on first. */
export interface TasksetList {
  readonly tasksets: readonly TasksetChoice[]
}

export interface TasksetChoice {
  /** Its key below `buffer.explorer_input`: `tasksets.0`, `eval_tasksets.1`. */
  readonly id: string
  readonly name: string
  readonly isEvaluation: boolean
  /** Path, split and workflow, in words. */
  readonly doc: string
}

/** One task of a run's task sets, by another model if one is given. */
export interface TryQuery {
  readonly run: string
  readonly model?: string
  /** From 0. */
  readonly task: number
  /** `TasksetChoice.id`; default the first. */
  readonly taskset?: string
}

export interface TryAnswer {
  readonly taskset: string
  readonly workflow: string
  /** The row as the data set has it. */
  readonly row: Json
  readonly rollouts: readonly Rollout[]
  readonly metrics: Readonly<Record<string, number | string>>
  /** Why it failed. */
  readonly failure?: string
  readonly log: readonly string[]
  readonly seconds: number
}
