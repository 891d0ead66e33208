import { columnOf, missingColumn } from './column.js'
import type { Task } from './task.js'

/** What a workflow and its reward cannot do without. */
export interface TaskNeeds {
  prompt: boolean
  truth: boolean
}

/** Says what the workflow of a task needs; whoever knows the workflows gives it. */
export type NeedsOf = (task: Pick<Task, 'workflow' | 'rewardFn'>) => TaskNeeds

/** Refuses a task without a column that its workflow reads: an empty prompt would be trained on without a word. */
export function checkNeeds({ raw, format, ...task }: Task, needsOf: NeedsOf): void {
  const needs = needsOf(task)
  const prompt = format.prompt_key ?? 'prompt'
  const truth = format.response_key ?? 'response'
  if (needs.prompt && columnOf(raw, prompt) == null) throw missingColumn(raw, 'prompt_key', prompt)
  if (needs.truth && columnOf(raw, truth) == null) throw missingColumn(raw, 'response_key', truth)
}
