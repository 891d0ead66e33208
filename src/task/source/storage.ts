import type { Given, TasksetConfig } from '../../config/index.js'
import type { RowSource } from './row-source.js'

/** Where tasks come from, by its name in `storage_type` of a task set. */
export interface TaskStorage {
  /** One line for people. */
  readonly doc: string
  open(config: Given<TasksetConfig>): Promise<RowSource>
}
