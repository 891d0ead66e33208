import type { Logger } from '../base/log/logger.js'
import { forward } from '../monitor/forward.js'
import type { ProgressView } from './job.js'

/** Whose phases come before anything is sampled. */
const ROLE = 'model'

/** Where the time goes until the first rollout: one line of the log, by what the view was told. */
export class Startup {
  readonly #log: Pick<Logger, 'info'>
  readonly #began: number
  readonly #now: () => number
  readonly #parts: { readonly name: string; readonly at: number }[]
  #told = false

  /** `began`: when the run was asked for, as `performance.now()` says it. */
  constructor(log: Pick<Logger, 'info'>, began: number, now = () => performance.now()) {
    this.#log = log
    this.#began = began
    this.#now = now
    this.#parts = [{ name: 'configuration', at: began }]
  }

  /** The view, whose phases are the parts. */
  watch(view: ProgressView): ProgressView {
    const phase = (role: string, what: string) => {
      if (role === ROLE && !this.#told) this.#parts.push({ name: what, at: this.#now() })
      view.phase(role, what)
    }
    return { ...forward(view), phase }
  }

  /** Something is sampled now; only the first time counts. */
  sampled(): void {
    if (this.#told) return
    this.#told = true
    const end = this.#now()
    const parts = this.#parts.map(({ name, at }, i) => `${name} ${seconds((this.#parts[i + 1]?.at ?? end) - at)}`)
    this.#log.info(`first rollout after ${seconds(end - this.#began)} s: ${parts.join(', ')}`)
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2)
}
