import type { FormatConfig, GenerationConfig, Given } from '../config/index.js'
import type { DataRow } from './source/row-source.js'

/** What a workflow is given: one record of a data set, and how to work on it. */
export interface Task {
  /** The record as the data set has it. */
  raw: DataRow
  /** Name of the workflow that runs it. */
  workflow: string
  /** Name of the reward function, for workflows that use one. */
  rewardFn?: string
  /** The column `prompt_key`: text, or a list of messages; absent when the record has no such field. */
  taskDesc?: unknown
  /** The column `response_key`: the right answer; absent when the record has no such field. */
  truth?: unknown
  /** How often it is run: the size of its group. */
  repeatTimes: number
  format: Given<FormatConfig>
  /** What is null or absent follows from `model.*`. */
  rolloutArgs: Given<GenerationConfig>
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
