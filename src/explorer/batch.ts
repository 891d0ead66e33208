import { manyListeners } from '../base/link-signals.js'
import type { Failure } from '../experience/index.js'
import type { Task } from '../task/index.js'
import { workflows } from '../workflow/registry.js'
import { runsOf } from '../workflow/workflow.js'
import { RolloutCancelled } from './failure.js'
import type { RolloutJob, RolloutResult } from './job.js'

export interface RolloutBatchSpec {
  /** The explorer's step, or `<step>/<taskset>`. */
  readonly id: number | string
  /** Batches of a lower number go first, training before evaluation. */
  readonly order: number
  readonly kind: 'train' | 'eval'
  readonly tasks: readonly Task[]
  /** Runs of a task that one runner does; the rest goes to others. */
  readonly maxRepeat?: number
  /** Enough tasks to end early; all when absent. */
  readonly enough?: number
  /** How long to wait for more once there are enough. */
  readonly waitMs?: number
  /** Keep the finished runs of tasks that were cut off. */
  readonly keepPartial?: boolean
}

export interface TaskResult {
  readonly task: Task
  readonly taskId: number
  /** In order of their numbers. */
  readonly runs: readonly RolloutResult[]
  /** All runs are there. */
  readonly complete: boolean
  readonly seconds: number
}

export interface RolloutBatchResult {
  /** In order of their place in the batch, whatever finished first. */
  readonly tasks: readonly TaskResult[]
  /** Tasks that were cut off and are not among them. */
  readonly cut: number
}

/** The tasks of one step, on their way. */
export class RolloutBatch {
  readonly spec: RolloutBatchSpec
  readonly done: Promise<RolloutBatchResult>
  readonly #jobs: RolloutJob[]
  readonly #control = manyListeners(new AbortController())
  readonly #runs: RolloutResult[][]
  readonly #left: number[]
  readonly #began: number[]
  readonly #ended: number[]
  #next = 0
  #finishedTasks = 0
  #settled = false
  #timer: NodeJS.Timeout | undefined
  #resolve!: (result: RolloutBatchResult) => void
  #reject!: (error: unknown) => void

  constructor(spec: RolloutBatchSpec) {
    this.spec = spec
    this.#jobs = spec.tasks.flatMap((task, taskId) => jobsOf(spec, task, taskId))
    this.#runs = spec.tasks.map(() => [])
    this.#left = spec.tasks.map(() => 0)
    for (const { taskId } of this.#jobs) this.#left[taskId]++
    this.#began = spec.tasks.map(() => 0)
    this.#ended = spec.tasks.map(() => 0)
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.done.catch(() => {})
    if (spec.tasks.length === 0) this.#settle()
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  get waiting(): number {
    return this.#settled ? 0 : this.#jobs.length - this.#next
  }

  take(): RolloutJob | undefined {
    if (this.waiting === 0) return undefined
    const job = this.#jobs[this.#next++]
    this.#began[job.taskId] ||= performance.now()
    return job
  }

  put({ taskId }: RolloutJob, results: readonly RolloutResult[]): void {
    if (!this.#settled) this.#runs[taskId].push(...results)
  }

  ended({ taskId }: RolloutJob): void {
    if (this.#settled) return
    if (--this.#left[taskId] > 0) return
    this.#ended[taskId] = performance.now()
    this.#finishedTasks++
    const { tasks, enough = tasks.length, waitMs = 0 } = this.spec
    if (this.#finishedTasks === tasks.length) this.#settle()
    else if (this.#finishedTasks >= enough) this.#timer ??= setTimeout(() => this.#settle(), waitMs)
  }

  /** Stops everything that is under way; `done` fails with the reason. */
  abort(reason: unknown): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    this.#control.abort(reason)
    this.#reject(reason)
  }

  #settle(): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    const { tasks, keepPartial } = this.spec
    const results = tasks.map((task, taskId): TaskResult => {
      const complete = this.#left[taskId] === 0
      const runs = this.#runs[taskId].toSorted((a, b) => a.run - b.run)
      return { task, taskId, runs, complete, seconds: (this.#ended[taskId] - this.#began[taskId]) / 1000 }
    })
    const kept = results.filter(({ complete, runs }) => complete || (keepPartial && runs.length > 0))
    this.#resolve({ tasks: kept, cut: tasks.length - kept.length })
    this.#control.abort(new RolloutCancelled('the step had enough tasks'))
  }
}

/** A task in portions of `maxRepeat` runs. An unknown workflow is found here, before anything runs. */
function jobsOf({ id, kind, maxRepeat }: RolloutBatchSpec, task: Task, taskId: number): RolloutJob[] {
  const entry = workflows.get(task.workflow)
  const runs = runsOf(entry, task)
  const size = maxRepeat ?? runs
  const jobs: RolloutJob[] = []
  const named = { ...task, batchId: id, taskId }
  for (let first = 0; first < runs; first += size) {
    jobs.push({ batch: id, kind, task: named, taskId, entry, first, count: Math.min(size, runs - first) })
  }
  return jobs
}

/** Failures of a batch by reason, and the first few that differ, in words. */
export function failuresOf(result: RolloutBatchResult): {
  runs: number
  failed: number
  reasons: Record<string, number>
  first: string[]
} {
  const reasons: Record<string, number> = {}
  const seen = new Map<string, { where: string; count: number }>()
  let [runs, failed] = [0, 0]
  for (const { taskId, runs: all } of result.tasks) {
    for (const { run, failure } of all) {
      runs++
      if (!failure) continue
      failed++
      reasons[failure.reason] = (reasons[failure.reason] ?? 0) + 1
      const text = describe(failure)
      const known = seen.get(text)
      if (known) known.count++
      else if (seen.size < 3) seen.set(text, { where: `task ${taskId}, run ${run}`, count: 1 })
    }
  }
  const first = [...seen].map(
    ([text, { where, count }]) => `${where}${count > 1 ? ` and ${count - 1} more` : ''}: ${text}`,
  )
  return { runs, failed, reasons, first }
}

function describe({ reason, message }: Failure): string {
  return `${reason}: ${message}`
}
