import { type Config, trainsIn } from '../config/index.js'
import { forward } from '../monitor/forward.js'
import type { ProgressView } from './job.js'

/** The steps that a stage takes in this process: of the trainer, or of the explorer where nothing is trained. */
export class StepsTaken {
  readonly #role: string
  #last = 0
  #count = 0

  constructor(mode: Config['mode']) {
    this.#role = trainsIn(mode) ? 'trainer' : 'explorer'
  }

  /** The number of the last one; 0: none was taken. */
  get last(): number {
    return this.#last
  }

  get count(): number {
    return this.#count
  }

  /** The view, which is told of every step. */
  watch(view: ProgressView): ProgressView {
    return {
      ...forward(view),
      metrics: (role, step, metrics) => {
        if (role === this.#role && step > this.#last) {
          this.#last = step
          this.#count++
        }
        view.metrics(role, step, metrics)
      },
    }
  }
}
