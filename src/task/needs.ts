import { columnOf, missingColumn } from './column.js'
import type { Task } from './task.js'

/** What a workflow and its reward cannot do without. */
export interface TaskNeeds {
  prompt: boolean
  truth: boolean
}

/** Says what the workflow of a task needs; whoever knows the workflows gives it. */
export type NeedsOf = (task: Pick<Task, 'workflow' | 'rewardFn'>) => TaskNeeds

/**
 * Refuses a task without a column that its workflow reads: an empty prompt would be trained on without a word. A column
 * that somebody has named must be there for any workflow.
 */
export function checkNeeds({ raw, format, ...task }: Task, needsOf: NeedsOf): void {
  const needs = needsOf(task)
  const keys = [
    { key: 'prompt_key', usual: 'prompt', given: format.prompt_key, needed: needs.prompt },
    { key: 'response_key', usual: 'response', given: format.response_key, needed: needs.truth },
  ] as const
  for (const { key, usual, given = usual, needed } of keys) {
    const value = columnOf(raw, given)
    if (needed ? value == null : value === undefined && given !== usual) throw missingColumn(raw, key, given)
  }
}
