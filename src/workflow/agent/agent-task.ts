import type { Task } from '../../task/index.js'

/** A row of the task set, and `truth` as the task set's format finds it. */
export interface AgentTask {
  // biome-ignore lint/suspicious/noExplicitAny: an agent knows its own columns
  [column: string]: any
}

/** The columns of a task by their names. */
export function rowOf({ raw, truth }: Pick<Task, 'raw' | 'truth'>): AgentTask {
  return truth === undefined ? { ...raw } : { truth, ...raw }
}
