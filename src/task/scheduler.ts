import { TrinityError } from '../base/error.js'
import { Pcg64 } from '../base/random/index.js'
import type { Config, Given, TasksetConfig } from '../config/index.js'
import type { NeedsOf } from './needs.js'
import type { SelectorState } from './selector/index.js'
import type { Task } from './task.js'
import { Taskset } from './taskset.js'

type Buffer = Config['buffer']

/** The task sets of a run, and how far `buffer` says to go through them. */
export interface SchedulerConfig
  extends Pick<Buffer, 'batch_size'>,
    Given<Pick<Buffer, 'total_epochs' | 'total_steps'>> {
  tasksets: readonly Given<TasksetConfig>[]
  /** What each task must have; absent: anything goes. */
  needsOf?: NeedsOf
}

/** Plain JSON. */
export interface SchedulerState {
  version: 1
  /** Batches handed out. */
  step: number
  tasksets: { name: string; length: number; selector: SelectorState }[]
}

/**
 * Hands out the batches of a run. Several task sets are mixed: an epoch is a list with one entry per task (or by
 * `ratio`), shuffled anew for every epoch; a batch is the next stretch of it and may span two epochs. Only whole
 * batches are handed out.
 */
export class TasksetScheduler {
  readonly tasksets: readonly Taskset[]
  /** Number of batches in the whole run. */
  readonly steps: number
  readonly #batchSize: number
  /** How many entries of an epoch each task set has. */
  readonly #shares: readonly number[]
  readonly #epochLength: number
  #step = 0
  #order?: { epoch: number; list: Int32Array }

  private constructor(tasksets: readonly Taskset[], config: SchedulerConfig) {
    this.tasksets = tasksets
    this.#batchSize = config.batch_size
    this.#shares = sharesOf(tasksets)
    this.#epochLength = this.#shares.reduce((sum, share) => sum + share, 0)
    const epochs = config.total_epochs ?? 1
    this.steps = config.total_steps ?? Math.floor((epochs * this.#epochLength) / config.batch_size)
    if (this.steps < 1) {
      const tasks = `${epochs === 1 ? '' : `${epochs} epochs of `}${this.#epochLength} tasks`
      throw new TrinityError('task/no-batch', `${tasks} do not fill one batch of ${config.batch_size}`, {
        path: 'buffer.batch_size',
        hint: `set buffer.batch_size to ${this.#epochLength} or less, or buffer.total_steps`,
      })
    }
  }

  static async open(config: SchedulerConfig): Promise<TasksetScheduler> {
    if (config.tasksets.length === 0) {
      throw new TrinityError('task/no-taskset', 'there is no task set', {
        path: 'buffer.explorer_input',
        hint: 'set `taskset`, or `tasksets` with at least one entry',
      })
    }
    if (!Number.isInteger(config.batch_size) || config.batch_size < 1) {
      throw new TrinityError('task/batch-size', `batch_size is ${config.batch_size}`, { path: 'buffer.batch_size' })
    }
    const tasksets: Taskset[] = []
    try {
      for (const [i, taskset] of config.tasksets.entries())
        tasksets.push(await Taskset.open(taskset, i, config.needsOf))
      return new TasksetScheduler(tasksets, config)
    } catch (error) {
      await Promise.all(tasksets.map((taskset) => taskset.close()))
      throw error
    }
  }

  /** Batches handed out so far. */
  get step(): number {
    return this.#step
  }

  /** Epochs begun and how far the last one is: 1.5 = in the middle of the second. */
  get epoch(): number {
    return (this.#step * this.#batchSize) / this.#epochLength
  }

  /** The tasks of the next step; undefined after the last. */
  async next(): Promise<Task[] | undefined> {
    if (this.#step >= this.steps) return undefined
    const counts = new Map<number, number>()
    const start = this.#step * this.#batchSize
    for (let i = start; i < start + this.#batchSize; i++) {
      const taskset = this.#orderOf(Math.floor(i / this.#epochLength))[i % this.#epochLength]
      counts.set(taskset, (counts.get(taskset) ?? 0) + 1)
    }
    this.#step++
    // All selectors move on before the first wait, so that two calls in flight do not mix.
    const parts = Array.from(counts, ([taskset, count]) => this.tasksets[taskset].take(count))
    return (await Promise.all(parts)).flat()
  }

  /** Observed pass rates of tasks, to the selector of their task set. */
  feedback(taskset: number, rows: ArrayLike<number>, values: ArrayLike<number>): void {
    const target = this.tasksets[taskset]
    if (!target) {
      throw new TrinityError(
        'task/feedback',
        `feedback for task set ${taskset}, but there are only ${this.tasksets.length}`,
      )
    }
    target.feedback(rows, values)
  }

  state(): SchedulerState {
    const tasksets = this.tasksets.map((set) => ({ name: set.name, length: set.length, selector: set.state() }))
    return { version: 1, step: this.#step, tasksets }
  }

  /** Goes on exactly where the state was taken. Refuses data that is not what it was. */
  restore(state: SchedulerState): void {
    const names = (sets: readonly { name: string; length: number }[]) =>
      sets.map(({ name, length }) => `${name} (${length} tasks)`).join(', ')
    const [saved, present] = [names(state.tasksets), names(this.tasksets)]
    if (state.version !== 1 || saved !== present) {
      throw new TrinityError('task/state', `the checkpoint belongs to other data: ${saved}; configured: ${present}`, {
        path: 'buffer.explorer_input',
        hint: 'restore the old task sets, or start the run under another name',
      })
    }
    this.#step = state.step
    for (const [i, taskset] of this.tasksets.entries()) taskset.restore(state.tasksets[i].selector)
  }

  async close(): Promise<void> {
    await Promise.all(this.tasksets.map((taskset) => taskset.close()))
  }

  #orderOf(epoch: number): Int32Array {
    if (this.#order?.epoch !== epoch) {
      const list = new Int32Array(this.#epochLength)
      let at = 0
      for (const [taskset, share] of this.#shares.entries()) {
        list.fill(taskset, at, at + share)
        at += share
      }
      if (this.#shares.length > 1) new Pcg64(epoch).shuffle(list)
      this.#order = { epoch, list }
    }
    return this.#order.list
  }
}

/** Entries of each task set in one epoch. By ratio: as long as all rows together, remainders to the largest fractions. */
function sharesOf(tasksets: readonly Taskset[]): number[] {
  const ratios = tasksets.map(({ config }) => config.ratio ?? undefined)
  if (ratios.every((ratio) => ratio === undefined)) return tasksets.map(({ length }) => length)
  const missing = ratios.findIndex((ratio) => ratio === undefined || !(ratio > 0))
  if (missing >= 0) {
    throw new TrinityError('task/ratio', `task set '${tasksets[missing].name}' has no positive ratio`, {
      path: 'ratio',
      hint: 'give every task set a ratio, or none',
    })
  }
  const total = tasksets.reduce((sum, { length }) => sum + length, 0)
  const sum = (ratios as number[]).reduce((all, ratio) => all + ratio, 0)
  const exact = (ratios as number[]).map((ratio) => (total * ratio) / sum)
  const shares = exact.map(Math.floor)
  const order = exact.map((_, i) => i).sort((a, b) => (exact[b] % 1) - (exact[a] % 1) || a - b)
  for (let left = total - shares.reduce((all, share) => all + share, 0), i = 0; left > 0; left--) shares[order[i++]]++
  return shares
}
