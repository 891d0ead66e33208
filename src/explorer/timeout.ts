import type { Config } from '../config/index.js'

/** How long an attempt may take: `max_timeout`, or less once the run knows how long rollouts take. */
export class AttemptTimeout {
  readonly #maxMs: number
  readonly #dynamic: Config['explorer']['dynamic_timeout']
  #steps = 0
  #sum = 0
  #count = 0

  constructor({ max_timeout, dynamic_timeout }: Pick<Config['explorer'], 'max_timeout' | 'dynamic_timeout'>) {
    this.#maxMs = max_timeout * 1000
    this.#dynamic = dynamic_timeout
  }

  get ms(): number {
    const { enable, warmup_min_steps, ratio } = this.#dynamic
    if (!enable || this.#steps < warmup_min_steps || this.#count === 0) return this.#maxMs
    return Math.min(this.#maxMs, (ratio * this.#sum) / this.#count)
  }

  /** A train rollout that came to its end. */
  observe(ms: number): void {
    this.#sum += ms
    this.#count++
  }

  /** A train step was completed. */
  stepDone(): void {
    this.#steps++
  }
}
