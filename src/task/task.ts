import type { DataRow } from './source/row-source.js'

/** What a workflow is given: one record of a data set, and how to work on it. */
export interface Task {
  /** The record as the data set has it. */
  raw: DataRow
  /** Name of the workflow that runs it. */
  workflow: string
  /** Name of the reward function, for workflows that use one. */
  rewardFn?: string
  /** `raw[prompt_key]`: text, or a list of messages; absent when the record has no such field. */
  taskDesc?: unknown
  /** `raw[response_key]`: the right answer; absent when the record has no such field. */
  truth?: unknown
  /** How often it is run: the size of its group. */
  repeatTimes: number
  format: FormatConfig
  rolloutArgs: RolloutArgs
  workflowArgs: Record<string, unknown>
  rewardFnArgs: Record<string, unknown>
  isEval: boolean
  index: TaskIndex
  /** Set by the explorer: its step, or `<step>/<taskset>` for evaluation. */
  batchId?: number | string
  /** Set by the explorer: place in the batch. */
  taskId?: number | string
}

/** Which row of which task set: the key under which results come back to the selector. */
export interface TaskIndex {
  taskset: number
  row: number
}

/** Sampling parameters of a task set, under their names in the YAML; what is null follows from `model.*`. */
export interface RolloutArgs {
  temperature?: number | null
  top_p?: number | null
  top_k?: number | null
  logprobs?: number | null
  max_tokens?: number | null
  n?: number
}

/** `format` of a task set or experience buffer, under its names in the YAML. */
export interface FormatConfig {
  prompt_type?: string
  prompt_key?: string
  response_key?: string
  system_prompt_key?: string | null
  system_prompt?: string | null
  messages_key?: string
  tools_key?: string
  image_key?: string | null
  video_key?: string | null
  reply_prefix?: string | null
  workflow_key?: string
  reward_fn_key?: string
  chosen_key?: string
  rejected_key?: string
  enable_concatenated_multi_turn?: boolean
  chat_template?: string | null
  enable_thinking?: boolean | null
}
