import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../base/error.js'
import type { Logger } from '../../base/log/logger.js'
import type { MetricsRow } from '../metrics-file.js'
import type { Monitor } from '../monitor.js'
import type { Delivered } from './delivered.js'
import { HttpError } from './http.js'
import type { Remote, RemoteTable } from './remote.js'

export interface RemoteOptions {
  /** Of the service, for people. */
  readonly name: string
  readonly remote: Remote
  readonly delivered: Delivered
  readonly logger: Logger
  /** Everything on record, for what did not fit into the queue or was not sent by an earlier process. */
  readonly history: () => MetricsRow[]
  /** First wait after a failure; doubles up to a minute. */
  readonly backoffMs?: number
  /** How long the end of the run waits for what is not sent yet. */
  readonly closeMs?: number
  /** Rows and tables that wait in memory. */
  readonly capacity?: number
}

const MOST_BACKOFF_MS = 60_000
const ALIVE_MS = 30_000
/** A service that has not answered for a while is given this long at the end. */
const DOWN_CLOSE_MS = 3000
const HURRIED_MS = 250
const BATCH = 100

/**
 * Sends to a service in the background. While it does not answer, rows wait in memory, up to a limit; what is beyond it
 * is read from the local file later. Nothing that happens here is felt by the run.
 */
export class RemoteMonitor implements Monitor {
  readonly #options: RemoteOptions
  readonly #rows: MetricsRow[] = []
  readonly #tables: RemoteTable[] = []
  /** The step that may still grow. */
  #current: MetricsRow | undefined
  /** Highest step that this process has logged. */
  #highest = Number.NEGATIVE_INFINITY
  /** Rows that are only in the local file. */
  #isBehind = false
  #isOpen = false
  #isDown = false
  #closing = false
  #lost = { rows: 0, tables: 0 }
  readonly #stop = new AbortController()
  /** The end of the run does not wait for the next attempt. */
  readonly #hurry = new AbortController()
  #limit: NodeJS.Timeout | undefined
  #wake: () => void = () => {}
  #work: Promise<void> | undefined

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  log(metrics: Readonly<Record<string, number>>, step: number): void {
    if (this.#stop.signal.aborted) return
    // The evaluation of the final weights comes after rollouts that the trainer did not need.
    if (step < this.#highest) this.#options.delivered.expectLate(step, Object.keys(metrics))
    this.#highest = Math.max(this.#highest, step)
    const before = this.#current
    if (before?.step === step) this.#current = { ...before, metrics: { ...before.metrics, ...metrics } }
    else {
      this.#push()
      this.#current = { step, time: Date.now() / 1000, metrics }
    }
    if (!this.#options.remote.wantsWholeSteps) this.#push()
    this.#start()
  }

  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void {
    if (this.#tables.length < this.#capacity && !this.#stop.signal.aborted) this.#tables.push({ name, rows, step })
    else this.#lost.tables++
    this.#start()
  }

  /** The service keeps what it has of later steps: they are made again with the same result and not sent again. */
  rewind(): void {
    this.#isBehind = true
    this.#start()
  }

  async close(): Promise<void> {
    this.#push()
    this.#closing = true
    this.#hurry.abort()
    this.#wake()
    this.#endSoon(this.#isDown ? DOWN_CLOSE_MS : Number.POSITIVE_INFINITY)
    await this.#work
    clearTimeout(this.#limit)
    this.#report()
  }

  #endSoon(ms: number): void {
    const { closeMs = 10_000 } = this.#options
    clearTimeout(this.#limit)
    this.#limit = setTimeout(() => this.#stop.abort(new Error('the run has ended')), Math.min(ms, closeMs))
  }

  get #capacity(): number {
    return this.#options.capacity ?? 5000
  }

  #push(): void {
    if (!this.#current) return
    if (this.#isBehind || this.#rows.length >= this.#capacity) this.#isBehind = true
    else this.#rows.push(this.#current)
    this.#current = undefined
    this.#wake()
  }

  #start(): void {
    this.#work ??= this.#run().catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#options.logger.error(`${this.#options.name} stopped`, error)
      this.#stop.abort(error)
    })
    this.#wake()
  }

  async #run(): Promise<void> {
    const { remote, delivered, logger, name } = this.#options
    const { signal } = this.#stop
    const opened = await this.#insist(() => remote.open(delivered.run, signal))
    if (!opened) throw new Error('the run could not be created')
    delivered.begin(opened.run, opened.lastStep)
    this.#isOpen = true
    logger.info(`${name}: ${opened.url ?? `run ${opened.run}`}`)
    for (;;) {
      if (await this.#sendRows()) continue
      if (await this.#sendTable()) continue
      if (this.#closing) break
      if (!(await this.#something())) await this.#insist(async () => remote.alive?.(signal))
    }
    await this.#insist(() => remote.finish(signal))
  }

  async #sendRows(): Promise<boolean> {
    const { remote, delivered, history } = this.#options
    if (this.#isBehind && this.#rows.length === 0) this.#catchUp(history())
    const taken = this.#rows.slice(0, BATCH)
    if (taken.length === 0) return false
    const rows = merged(taken.flatMap((row) => delivered.rest(row) ?? []))
    if (rows.length > 0) {
      const sent = await this.#insist(async () => {
        await remote.send(rows, this.#stop.signal)
        return true
      })
      if (!sent) this.#lost.rows += rows.length
      delivered.add(rows)
    }
    this.#rows.splice(0, taken.length)
    return true
  }

  /** Takes from the local file what has not been sent; the step that may still grow is not in question yet. */
  #catchUp(history: readonly MetricsRow[]): void {
    const { delivered } = this.#options
    const due = history.filter((row) => row.step !== this.#current?.step && delivered.rest(row) !== undefined)
    this.#rows.push(...due.slice(0, this.#capacity))
    this.#isBehind = due.length > this.#capacity
  }

  async #sendTable(): Promise<boolean> {
    const table = this.#tables[0]
    if (!table) return false
    const sent = await this.#insist(async () => {
      await this.#options.remote.sendTable(table, this.#stop.signal)
      return true
    })
    this.#tables.shift()
    if (!sent) this.#lost.tables++
    return true
  }

  /** Waits for something to do; false when it is time to show that the run is alive. */
  async #something(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const idle = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ALIVE_MS)
      timer.unref()
    })
    const woken = new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true)
    })
    // what came in while nobody listened
    if (this.#rows.length > 0 || this.#tables.length > 0 || this.#isBehind || this.#closing) this.#wake()
    try {
      return await Promise.race([woken, idle])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Until it succeeds. Undefined: the service refuses exactly this, and always will. Throws when all is in vain. */
  async #insist<T>(act: () => Promise<T>): Promise<T | undefined> {
    const { name, logger, backoffMs = 1000 } = this.#options
    const { signal } = this.#stop
    for (let wait = backoffMs; ; wait = Math.min(2 * wait, MOST_BACKOFF_MS)) {
      signal.throwIfAborted()
      try {
        const result = await act()
        if (this.#isDown) logger.info(`${name} answers again`)
        this.#isDown = false
        return result
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof HttpError && !error.isPassing) {
          logger.warn(`${name} refuses: ${error.message}`)
          if (error.isForbidden || !this.#isOpen) throw error
          return undefined
        }
        if (!this.#isDown) {
          logger.warn(
            `${name} does not answer: ${messageOf(error)}. The numbers are kept and sent later; the run continues`,
          )
        }
        if (this.#closing && !this.#isDown) this.#endSoon(DOWN_CLOSE_MS)
        this.#isDown = true
        if (this.#closing) await sleep(Math.min(backoffMs, HURRIED_MS), undefined, { signal })
        else
          await sleep(wait, undefined, { signal: AbortSignal.any([signal, this.#hurry.signal]), ref: false }).catch(
            () => {},
          )
      }
    }
  }

  #report(): void {
    const { name, logger, history, delivered } = this.#options
    const rows = this.#stop.signal.aborted ? history().filter((row) => delivered.rest(row) !== undefined).length : 0
    if (rows > 0) logger.warn(`${name}: ${rows} steps were not sent. They are kept, and sent when the run resumes`)
    const { rows: refused, tables } = this.#lost
    const unsent = tables + this.#tables.length
    if (refused > 0) logger.warn(`${name}: ${refused} steps were refused`)
    if (unsent > 0) logger.warn(`${name}: ${unsent} tables were not sent`)
  }
}

/** Rows of the same step that follow each other become one. */
function merged(rows: readonly MetricsRow[]): MetricsRow[] {
  const result: MetricsRow[] = []
  for (const row of rows) {
    const last = result.at(-1)
    if (last?.step === row.step) result[result.length - 1] = { ...last, metrics: { ...last.metrics, ...row.metrics } }
    else result.push(row)
  }
  return result
}
