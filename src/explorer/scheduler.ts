import { RolloutBatch, type RolloutBatchSpec } from './batch.js'
import type { RolloutJob } from './job.js'
import { Runner, type RunnerOptions } from './runner.js'

/**
 * Gives the tasks of batches to runners. A runner that is free takes the next job of the first batch in line; nothing
 * polls. Which runner does what has no influence on results.
 */
export class RolloutScheduler {
  readonly runners: readonly Runner[]
  readonly #idle: Runner[]
  readonly #batches: RolloutBatch[] = []
  readonly #hungry: (() => void)[] = []
  readonly #resting: (() => void)[] = []

  constructor(runners: number, options: RunnerOptions) {
    this.runners = Array.from({ length: Math.max(1, runners) }, (_, i) => new Runner(i, options))
    this.#idle = [...this.runners].reverse()
  }

  submit(spec: RolloutBatchSpec): RolloutBatch {
    const batch = new RolloutBatch(spec)
    const rank = ({ spec: { order, kind } }: RolloutBatch) => order * 2 + (kind === 'train' ? 0 : 1)
    const at = this.#batches.findIndex((other) => rank(other) > rank(batch))
    this.#batches.splice(at < 0 ? this.#batches.length : at, 0, batch)
    const gone = () => this.#leave(batch)
    batch.done.then(gone, gone)
    this.#pump()
    return batch
  }

  /** Jobs that wait for a runner. */
  get waiting(): number {
    return this.#batches.reduce((sum, batch) => sum + batch.waiting, 0)
  }

  get busy(): number {
    return this.runners.length - this.#idle.length
  }

  /** Who works on what, for the log. */
  report(now = performance.now()): string {
    const busy = this.runners.flatMap(({ index, current }) => {
      if (!current) return []
      const { batch, taskId, first, task } = current.job
      const seconds = ((now - current.since) / 1000).toFixed(1)
      return [`runner ${index}: ${batch}/${taskId}/${first} (${task.workflow}) since ${seconds} s`]
    })
    return [`${busy.length} of ${this.runners.length} runners busy, ${this.waiting} jobs waiting`, ...busy].join('\n')
  }

  /** Resolves when no job waits, so that a further batch would find runners. */
  async hungry(): Promise<void> {
    while (this.waiting > 0) await new Promise<void>((resolve) => this.#hungry.push(resolve))
  }

  /** Resolves when no runner works. */
  async idle(): Promise<void> {
    while (this.busy > 0) await new Promise<void>((resolve) => this.#resting.push(resolve))
  }

  /** Stops everything. */
  abort(reason: unknown): void {
    for (const batch of [...this.#batches]) batch.abort(reason)
  }

  #leave(batch: RolloutBatch): void {
    const at = this.#batches.indexOf(batch)
    if (at >= 0) this.#batches.splice(at, 1)
    this.#pump()
  }

  #pump(): void {
    while (this.#idle.length > 0) {
      const batch = this.#batches.find(({ waiting }) => waiting > 0)
      const job = batch?.take()
      if (!batch || !job) break
      void this.#work(this.#idle.pop()!, batch, job)
    }
    if (this.waiting === 0) for (const resolve of this.#hungry.splice(0)) resolve()
    if (this.busy === 0) for (const resolve of this.#resting.splice(0)) resolve()
  }

  async #work(runner: Runner, batch: RolloutBatch, job: RolloutJob): Promise<void> {
    try {
      await runner.run(job, batch.signal, (results) => batch.put(job, results))
      batch.ended(job)
    } catch (error) {
      // A runner turns failures of workflows into results; what comes here is a fault of ours.
      batch.abort(error)
    } finally {
      this.#idle.push(runner)
      this.#pump()
    }
  }
}
