/** The part of the API that is about experiences; `api.ts` has the routes. */

import type { Json, OddNumber } from './api.js'

export interface StoreList {
  readonly stores: readonly Store[]
}

/** A table or a file of experiences. */
export interface Store {
  /** Value of `store` in queries. */
  readonly id: string
  /** `pipeline_input of explorer_output.db` */
  readonly name: string
  readonly kind: 'sqlite' | 'postgresql' | 'jsonl'
  /** `raw`: what the explorer made, before any operator. `buffer`: what trainers take. */
  readonly holds: 'raw' | 'buffer' | 'other'
  readonly path: string
  /** Absent: not counted yet. */
  readonly count?: number
  /** Why it cannot be read. */
  readonly problem?: string
}

export interface RolloutFilter {
  readonly store: string
  readonly task?: string
  /** Explorer step (`batch_id`), both included. */
  readonly stepMin?: number
  readonly stepMax?: number
  readonly versionMin?: number
  readonly versionMax?: number
  readonly rewardMin?: number
  readonly rewardMax?: number
  /** In prompt or response, whatever its case. */
  readonly text?: string
  /** A reason, `any`, or `none`. */
  readonly failure?: string
}

export interface RolloutQuery extends RolloutFilter {
  /** `newest` (default), `oldest`, `best`, `worst`. */
  readonly order?: 'newest' | 'oldest' | 'best' | 'worst'
  /** `next` of the page before. */
  readonly cursor?: string
  /** 1 to 500; default 50. */
  readonly limit?: number
  /** Count everything that fits as well. */
  readonly count?: boolean
}

export interface RolloutPage {
  readonly rows: readonly RolloutRow[]
  /** Absent: this was the last page. */
  readonly next?: string
  /** With `count`. */
  readonly count?: number
}

export interface RolloutRow {
  /** Inside its store. */
  readonly id: string
  readonly task: string
  /** Explorer step. */
  readonly step: string
  readonly run: number
  readonly type: string
  readonly version: number
  readonly reward?: number | OddNumber
  readonly createdAt?: string
  readonly consumed?: number
  readonly failure?: string
  readonly truncated?: string
  readonly responseLength?: number
  /** The row of the task set that was tried, the same in every step; `task` counts within a step. */
  readonly source?: { readonly taskset: number; readonly index: number }
  /** First 200 characters. */
  readonly prompt?: string
  readonly response?: string
}

export interface HistogramQuery extends RolloutFilter {
  /** 1 to 200; default 40. */
  readonly bins?: number
}

export interface RewardHistogram {
  readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[]
  readonly count: number
  readonly without: number
  readonly failed: number
  readonly mean?: number
  readonly min?: number
  readonly max?: number
}

export interface ExtremesQuery {
  readonly store: string
  readonly step: number
  /** 1 to 50; default 5. */
  readonly limit?: number
}

export interface Extremes {
  readonly step: number
  readonly best: readonly RolloutRow[]
  readonly worst: readonly RolloutRow[]
}

export interface TasksQuery {
  readonly store: string
  /** Part of its id. */
  readonly text?: string
  readonly order?: 'attempts' | 'best' | 'worst' | 'spread'
  readonly offset?: number
  readonly limit?: number
}

export interface TaskPage {
  readonly tasks: readonly TaskRow[]
  readonly isLast: boolean
}

export interface TaskRow {
  readonly task: string
  readonly attempts: number
  readonly mean?: number
  readonly min?: number
  readonly max?: number
}

export interface AttemptsQuery {
  readonly store: string
  readonly task: string
  readonly limit?: number
}

/** All attempts at a task, oldest first. */
export interface Attempts {
  readonly task: string
  readonly rows: readonly RolloutRow[]
  readonly isAll: boolean
}

export interface Rollout extends RolloutRow {
  readonly store: string
  readonly temperature: number
  readonly promptText?: string
  readonly responseText?: string
  readonly messages?: readonly ChatMessage[]
  readonly tools?: Json
  readonly failureMessage?: string
  readonly info: Json
  readonly metrics: Readonly<Record<string, number | OddNumber>>
  readonly tokens: TokenColumns
  /** Response tokens from `from` on were drawn with this version. */
  readonly versions?: readonly { readonly from: number; readonly version: number }[]
  /** DPO: the two answers. */
  readonly pair?: { readonly chosen: readonly ChatMessage[]; readonly rejected: readonly ChatMessage[] }
  /** Why texts of tokens, or columns, are not there. */
  readonly missing: readonly string[]
}

export interface ScoreQuery {
  readonly store: string
  readonly id: number
  /** Path of a model directory. */
  readonly model: string
}

/** What a model says to the answer of a rollout, one number for each of its tokens. */
export interface RolloutScores {
  readonly logprob: readonly (number | null)[]
  readonly entropy: readonly (number | null)[]
}

export interface ChatMessage {
  readonly role: string
  /** Text, or parts as the model's API has them. */
  readonly content?: Json
  readonly [field: string]: Json | undefined
}

/**
 * `id` and `text` have one entry for each token of prompt and response; everything else one for each token of the response
 * (`id.length - promptLength`). A column that is not on record is absent.
 */
export interface TokenColumns {
  readonly promptLength: number
  readonly id: readonly number[]
  /** Bytes of one character may be spread over tokens: the last one of them has it, the others are ''. */
  readonly text?: readonly string[]
  /** 1: the model produced it, and it may be trained on. */
  readonly mask: readonly (0 | 1)[]
  readonly logprob?: readonly (number | null)[]
  readonly drawnLogprob?: readonly (number | null)[]
  /** Of the trainer's model before the update. */
  readonly oldLogprob?: readonly (number | null)[]
  readonly refLogprob?: readonly (number | null)[]
  readonly teacherLogprob?: readonly (number | null)[]
  readonly entropy?: readonly (number | null)[]
  readonly advantage?: readonly (number | null)[]
  readonly return?: readonly (number | null)[]
  readonly value?: readonly (number | null)[]
  readonly reward?: readonly (number | null)[]
  /** `oldLogprob - logprob`: what trainer and sampler disagree about; its exponential is the ratio. */
  readonly mismatch?: readonly (number | null)[]
  /** Further inputs of the loss, by name. */
  readonly more?: Readonly<Record<string, readonly (number | null)[] | number>>
}
