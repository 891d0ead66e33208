import { TrinityError } from '../base/error.js'
import type { DataSelectorConfig, Given, TasksetConfig } from '../config/index.js'
import { readFeatures } from './features.js'
import { checkNeeds, type NeedsOf } from './needs.js'
import { createSelector, type Selector, type SelectorState } from './selector/index.js'
import { taskStorages } from './source/registry.js'
import type { DataRow, RowSource } from './source/row-source.js'
import type { Task } from './task.js'
import { formatTask } from './task-format.js'

/** Rows of a data set in the order a selector gives. */
export class SelectedRows {
  readonly source: RowSource
  readonly #selector: Selector

  private constructor(source: RowSource, selector: Selector) {
    this.source = source
    this.#selector = selector
  }

  static async open(source: RowSource, config: Given<DataSelectorConfig> = {}): Promise<SelectedRows> {
    const selector = await createSelector(config, source.length, (keys) => readFeatures(source, keys))
    return new SelectedRows(source, selector)
  }

  async take(count: number): Promise<{ index: number; row: DataRow }[]> {
    const rows = this.#selector.take(count)
    return Promise.all(Array.from(rows, async (index) => ({ index, row: await this.source.row(index) })))
  }

  feedback(rows: ArrayLike<number>, values: ArrayLike<number>): void {
    const odd = Array.from(rows).find((row) => !Number.isInteger(row) || row < 0 || row >= this.source.length)
    if (odd !== undefined || rows.length !== values.length) {
      throw new TrinityError('task/feedback', `feedback for row ${odd ?? '?'} of ${this.source.length}`, {
        hint: 'give one value per row, and rows of this task set',
      })
    }
    this.#selector.feedback(rows, values)
  }

  state(): SelectorState {
    return this.#selector.state()
  }

  restore(state: SelectorState): void {
    this.#selector.restore(state)
  }
}

/** An opened task set. */
export class Taskset {
  readonly name: string
  /** Number among the task sets of its kind. */
  readonly index: number
  readonly config: Given<TasksetConfig>
  readonly #rows: SelectedRows
  readonly #needsOf?: NeedsOf

  private constructor(config: Given<TasksetConfig>, index: number, rows: SelectedRows, needsOf?: NeedsOf) {
    this.config = config
    this.index = index
    this.name = config.name || `${config.is_eval ? 'eval_' : ''}taskset_${index}`
    this.#rows = rows
    this.#needsOf = needsOf
  }

  /** `needsOf`: what its tasks must have. The first is looked at here, before anything is loaded for them. */
  static async open(config: Given<TasksetConfig>, index = 0, needsOf?: NeedsOf): Promise<Taskset> {
    const source = await taskStorages.get(config.storage_type ?? 'file').open(config)
    try {
      const rows = await SelectedRows.open(source, config.task_selector ?? config.data_selector)
      const taskset = new Taskset(config, index, rows, needsOf)
      if (needsOf && source.length > 0) await taskset.#task(await source.row(0), 0)
      return taskset
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** Number of tasks. */
  get length(): number {
    return this.#rows.source.length
  }

  /** The next tasks by the selector; never ends. */
  async take(count: number): Promise<Task[]> {
    const rows = await this.#rows.take(count)
    return Promise.all(rows.map(({ row, index }) => this.#task(row, index)))
  }

  /** Every task once, in the order of the data, in batches; the last one may be smaller. What evaluation reads. */
  async *batches(size: number): AsyncIterable<Task[]> {
    for (let start = 0; start < this.length; start += size) {
      const count = Math.min(size, this.length - start)
      const rows = Array.from({ length: count }, (_, i) => start + i)
      yield await Promise.all(rows.map(async (row) => this.#task(await this.#rows.source.row(row), row)))
    }
  }

  feedback(rows: ArrayLike<number>, values: ArrayLike<number>): void {
    this.#rows.feedback(rows, values)
  }

  state(): SelectorState {
    return this.#rows.state()
  }

  restore(state: SelectorState): void {
    this.#rows.restore(state)
  }

  close(): Promise<void> {
    return this.#rows.source.close()
  }

  async #task(row: DataRow, index: number): Promise<Task> {
    try {
      const task = formatTask(row, this.config, { taskset: this.index, row: index })
      if (this.#needsOf) checkNeeds(task, this.#needsOf)
      return task
    } catch (error) {
      if (!(error instanceof TrinityError)) throw error
      throw new TrinityError(error.code, `task set '${this.name}': ${error.message}`, {
        path: await this.#rows.source.where(index),
        hint: error.hint,
        cause: error,
      })
    }
  }
}
