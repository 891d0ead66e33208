import type { Checkpoints } from '../checkpoint/index.js'
import type { Config } from '../config/index.js'

/** `run_meta.json`: that a run got to its end, and to which one. */
export class FinishMarker {
  readonly #checkpoints: Checkpoints
  readonly #name: string
  readonly #goal: string

  constructor(checkpoints: Checkpoints, config: Config) {
    this.#checkpoints = checkpoints
    this.#name = config.mode === 'explore' ? `${config.explorer.name}_run` : 'run'
    const { total_steps, total_epochs } = config.buffer
    this.#goal = JSON.stringify({ total_steps, total_epochs, trainer_total_steps: config.trainer.total_steps })
  }

  /** Steps of the finished run; undefined: it has not got to the end that is asked for now. */
  async read(): Promise<number | undefined> {
    const meta = await this.#checkpoints.readMeta(this.#name)
    return meta?.finished === true && meta.goal === this.#goal ? Number(meta.steps) : undefined
  }

  async write(steps: number): Promise<void> {
    await this.#checkpoints.writeMeta(this.#name, { finished: true, steps, goal: this.#goal })
  }
}
