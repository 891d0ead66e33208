import type { TasksetConfig } from '../config.js'
import type { RowSource } from './row-source.js'

/** Where tasks come from, by its name in `storage_type` of a task set. */
export interface TaskStorage {
  /** One line for people. */
  readonly doc: string
  open(config: TasksetConfig): Promise<RowSource>
}
