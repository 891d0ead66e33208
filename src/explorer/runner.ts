import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/error.js'
import { linkSignals } from '../base/link-signals.js'
import type { Logger } from '../base/log/logger.js'
import { timeSlice } from '../base/time-slice.js'
import type { Experience } from '../experience/index.js'
import { repeatsItself } from '../workflow/workflow.js'
import { failedExperience, failureOf, isHopeless, placeOf, RolloutTimeout } from './failure.js'
import type { RolloutJob, RolloutResult } from './job.js'
import { rolloutOver } from './over.js'
import { invalidReward, markFailed } from './reward-check.js'
import { divergenceMetrics, requestMetrics, runMetrics, SAMPLED_TOKENS, stamp } from './stamp.js'
import type { AttemptTimeout } from './timeout.js'
import { nameOf, type Seat, type Workplace } from './workplace.js'

export interface RunnerOptions {
  /** Where the workflows run. */
  readonly workplace: Workplace
  readonly timeout: AttemptTimeout
  /** Attempts after the first. */
  readonly retries: number
  /** Wait before the second attempt; doubles from then on. */
  readonly backoffMs: number
  /** Runs of a job one after the other, or all at once. */
  readonly concurrent: boolean
  /** How long to wait for a workflow to come to its end once it was told to. */
  readonly graceMs: number
  readonly seed: number
  readonly loggerOf: (runner: number) => Logger
}

const MOST_BACKOFF_MS = 30_000
/** Runs the workflow of a job: attempts, time limits, failures as data. Never throws. */
export class Runner {
  readonly index: number
  /** What it is working on, and since when (`performance.now()`). */
  current: { readonly job: RolloutJob; readonly since: number } | undefined
  readonly #options: RunnerOptions

  constructor(index: number, options: RunnerOptions) {
    this.index = index
    this.#options = options
  }

  /** `report` gets the results of each run as it ends. */
  async run(job: RolloutJob, signal: AbortSignal, report: (results: readonly RolloutResult[]) => void): Promise<void> {
    this.current = { job, since: performance.now() }
    try {
      await this.#runs(job, signal, report)
    } finally {
      this.current = undefined
    }
  }

  async #runs(
    job: RolloutJob,
    signal: AbortSignal,
    report: (results: readonly RolloutResult[]) => void,
  ): Promise<void> {
    if (repeatsItself(job.entry)) return report(await this.#attempts(job, job.first, job.count, signal))
    const runs = Array.from({ length: job.count }, (_, i) => job.first + i)
    const one = async (run: number) => report(await this.#attempts(job, run, 1, signal))
    if (this.#options.concurrent) await Promise.all(runs.map(one))
    else for (const run of runs) await one(run)
  }

  async #attempts(job: RolloutJob, run: number, repeat: number, signal: AbortSignal): Promise<RolloutResult[]> {
    const { retries, backoffMs } = this.#options
    for (let attempt = 0; ; attempt++) {
      const result = await this.#attempt(job, run, repeat, attempt, signal)
      if (Array.isArray(result)) return result
      const last = attempt >= retries || result.hopeless || signal.aborted
      this.#report(job, run, attempt, result.error, last)
      if (last) return this.#failed(job, run, repeat, result, attempt + 1)
      await sleep(Math.min(MOST_BACKOFF_MS, backoffMs * 2 ** attempt), undefined, { signal }).catch(() => {})
    }
  }

  async #attempt(
    job: RolloutJob,
    run: number,
    repeat: number,
    attempt: number,
    signal: AbortSignal,
  ): Promise<RolloutResult[] | FailedAttempt> {
    const { workplace, timeout, seed } = this.#options
    let seat: Seat
    try {
      seat = await workplace.take(signal)
    } catch (error) {
      return { error, failure: failureOf(error, signal), hopeless: isHopeless(error) }
    }
    const link = linkSignals([signal])
    const limit = timeout.ms
    const timer = setTimeout(() => link.abort(new RolloutTimeout(limit / 1000)), limit)
    const begun = performance.now()
    let work: Promise<unknown> = Promise.resolve()
    try {
      await untilAborted(timeSlice(), link.signal)
      const running = seat.perform(job, { run, repeat, attempt, runner: this.index }, link.signal)
      work = running
      const { experiences, drift, diverged, sampledTokens, notes } = await untilAborted(running, link.signal)
      const ms = performance.now() - begun
      if (job.kind === 'train') timeout.observe(ms)
      stamp(experiences, job, { first: run, count: repeat }, seed, drift)
      this.#logger.debug(`run ${nameOf(job, run)}: ${ms.toFixed(0)} ms; ${experiences.map(inWords).join('; ')}`)
      const extra = {
        'time/run_execution': ms / 1000,
        ...divergenceMetrics(diverged, repeat),
        ...requestMetrics(notes, repeat),
        // one call may have answered for several runs
        [SAMPLED_TOKENS]: sampledTokens / repeat,
      }
      return resultsByRun(experiences, job, run, repeat, extra, attempt + 1)
    } catch (error) {
      const failure = failureOf(error, link.signal)
      // One that looks at its signal ends at once; the runner has stopped sampling before it takes the next job.
      if (link.signal.aborted) await settled(work, this.#options.graceMs)
      return { error, failure, hopeless: isHopeless(error) }
    } finally {
      clearTimeout(timer)
      link.release()
      // Whatever the workflow left running must not go on sampling.
      if (!link.signal.aborted) link.abort(rolloutOver(job.task.workflow))
      seat.leave()
    }
  }

  #failed(
    job: RolloutJob,
    first: number,
    count: number,
    { failure }: FailedAttempt,
    attempts: number,
  ): RolloutResult[] {
    return Array.from({ length: count }, (_, i) => {
      const eid = { batch: job.batch, task: job.taskId, run: first + i, suffix: '000000' }
      const info = { task_index: { taskset_id: job.task.index.taskset, index: job.task.index.row } }
      const experiences = job.kind === 'eval' ? [] : [failedExperience(eid, failure, info)]
      const isTooLong = failure.reason === 'prompt_too_long'
      return { run: first + i, experiences, metrics: {}, failure, isTooLong, attempts }
    })
  }

  #report(job: RolloutJob, run: number, attempt: number, error: unknown, last: boolean): void {
    const text = `run ${nameOf(job, run)}: attempt ${attempt + 1} failed: ${messageOf(error)}${placeOf(error)}`
    if (last) this.#logger.error(text, error)
    else this.#logger.warn(`${text}; trying again`)
  }

  get #logger(): Logger {
    return this.#options.loggerOf(this.index)
  }
}

/** So much of an answer stands in a log. */
const MOST_CHARACTERS = 400

function inWords({ reward, tokens, promptLength, responseText = '' }: Experience): string {
  const cut = responseText.length > MOST_CHARACTERS ? `${responseText.slice(0, MOST_CHARACTERS)}…` : responseText
  return `reward ${reward ?? 'none'}, ${tokens.length - promptLength} tokens: ${JSON.stringify(cut)}`
}

interface FailedAttempt {
  readonly error: unknown
  readonly failure: NonNullable<RolloutResult['failure']>
  readonly hopeless: boolean
}

/** The work's result, or the signal's reason as soon as it fires: a workflow that does not look at its signal is left behind. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Resolves when the work is over, well or not, or after so long. */
async function settled(work: Promise<unknown>, ms: number): Promise<void> {
  const control = new AbortController()
  const over = work.then(
    () => {},
    () => {},
  )
  await Promise.race([over, sleep(ms, undefined, { signal: control.signal }).catch(() => {})])
  control.abort()
}

function resultsByRun(
  experiences: readonly Experience[],
  job: RolloutJob,
  first: number,
  count: number,
  extra: Record<string, number>,
  attempts: number,
): RolloutResult[] {
  return Array.from({ length: count }, (_, i) => {
    const own = count === 1 ? experiences : experiences.filter(({ eid }) => eid.run === first + i)
    const failure =
      own.length > 0
        ? (own.find((one) => one.failure)?.failure ?? invalidReward(own, job.task.workflow))
        : ({ reason: 'no_response', message: 'the workflow returned nothing for this run' } as const)
    if (failure) markFailed(own, failure)
    const metrics = failure ? {} : runMetrics(own, extra)
    const isTooLong = own.length > 0 && own.every(({ truncateStatus }) => truncateStatus === 'prompt_truncated')
    return { run: first + i, experiences: job.kind === 'eval' ? [] : own, metrics, failure, isTooLong, attempts }
  })
}
