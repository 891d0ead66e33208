import type { NativeSampler, SamplingAddon } from './addon.js'
import type { Scheduler } from './scheduler.js'
import { Step } from './step.js'

/** Runs steps while there is work. Between two steps it can be held, to change the weights. */
export class SampleLoop {
  readonly #addon: SamplingAddon
  readonly #sampler: NativeSampler
  readonly #scheduler: Scheduler
  readonly #step = new Step()
  #running: Promise<void> | undefined
  #gate: { drain: boolean; reached: () => void; released: Promise<void> } | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(addon: SamplingAddon, sampler: NativeSampler, scheduler: Scheduler) {
    this.#addon = addon
    this.#sampler = sampler
    this.#scheduler = scheduler
  }

  /** To be called when there may be work. */
  wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Settles when no step runs and none will until somebody wakes it. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  /**
   * Waits for the end of the step in hand (`drain`: of every request that has begun) and stays there until the function
   * that it gives is called. Holds of several callers follow each other.
   */
  async hold(drain: boolean, signal: AbortSignal): Promise<() => void> {
    const before = this.#turn
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = () => {
        this.#gate = undefined
        this.#scheduler.draining = false
        resolve()
        this.wake()
      }
    })
    this.#turn = before.then(() => released)
    try {
      await orAbort(before, signal)
      const reached = new Promise<void>((resolve) => {
        this.#gate = { drain, reached: resolve, released }
      })
      this.#scheduler.draining = drain
      this.wake()
      await orAbort(reached, signal)
      return release
    } catch (error) {
      void before.then(release)
      throw error
    }
  }

  async #run(): Promise<void> {
    // Requests that are sent in one go start together.
    await Promise.resolve()
    for (;;) {
      const gate = this.#gate
      if (gate && (!gate.drain || this.#scheduler.drained)) {
        gate.reached()
        await gate.released
        continue
      }
      if (!this.#scheduler.plan(this.#step)) return
      try {
        await this.#addon.sampleStep(this.#sampler, this.#step)
      } catch (error) {
        for (const job of this.#scheduler.jobs('begun')) this.#scheduler.fail(job, error)
        this.#scheduler.restart()
        continue
      }
      this.#scheduler.absorb(this.#step)
    }
  }
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
