import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { beta, Pcg64 } from '../../base/random/index.js'
import { DifficultyEstimator } from './difficulty-estimator.js'
import { CountingSelector, type SelectorContext, type SelectorState, selector } from './selector.js'

const args = z.strictObject({
  m: z.number().positive().default(16).describe('Runs that one observation stands for.'),
  lamb: z.number().min(0).max(1).default(0.2).describe('How fast old observations are forgotten.'),
  rho: z.number().min(0).max(1).default(0.2).describe('Weight of predictions beside observations.'),
  adaptive_rho: z
    .boolean()
    .default(false)
    .describe('Halves rho when the predictions of a batch are off by a quarter or more.'),
  do_sample: z.boolean().default(false).describe('Draws the estimated pass rates instead of taking their means.'),
  target_reward: z.number().min(0).max(1).default(1).describe('Pass rate that tasks should have.'),
  tau: z.number().min(0).default(1).describe('Temperature of the draw; 0: always the best.'),
})
type Args = z.infer<typeof args>

/**
 * Prefers tasks whose expected pass rate is near the target. Score = −|target − rate|; with tau 0 the best scores are
 * taken, otherwise rows are drawn without repetition from softmax(score / tau), from a stream of seed + position.
 */
class DifficultySelector extends CountingSelector {
  readonly #size: number
  readonly #seed: number
  readonly #args: Args
  readonly #estimator: DifficultyEstimator

  constructor(context: SelectorContext, options: Args) {
    super()
    this.#size = context.size
    this.#seed = context.seed
    this.#args = options
    this.#estimator = new DifficultyEstimator(context.features[0], context.features[1], options)
  }

  take(count: number): Int32Array {
    const rows = new Int32Array(count)
    for (let done = 0; done < count; ) {
      const part = Math.min(count - done, this.#size)
      rows.set(this.#choose(part), done)
      this.position += part
      done += part
    }
    return rows
  }

  override feedback(rows: ArrayLike<number>, values: ArrayLike<number>): void {
    this.#estimator.update(rows, values)
  }

  override state(): SelectorState {
    return { ...super.state(), size: this.#size, estimator: this.#estimator.state() }
  }

  override restore(state: SelectorState): void {
    if (state.size !== this.#size) {
      throw new TrinityError('task/state', `the saved selector knew ${state.size} tasks, the data has ${this.#size}`, {
        hint: 'the data has changed since the checkpoint; start a new run, or restore the old data',
      })
    }
    super.restore(state)
    this.#estimator.restore(state.estimator as ReturnType<DifficultyEstimator['state']>)
  }

  #choose(count: number): Int32Array {
    const rng = new Pcg64(this.#seed + this.position)
    const { do_sample, target_reward, tau } = this.#args
    const { alpha, beta: failures } = this.#estimator
    const keys = new Float64Array(this.#size)
    for (let row = 0; row < this.#size; row++) {
      const rate = do_sample ? beta(rng, alpha[row], failures[row]) : this.#estimator.passRate(row)
      keys[row] = -Math.abs(target_reward - rate)
    }
    if (tau > 0) {
      // The largest of score/tau + Gumbel noise are a draw without repetition from the softmax.
      for (let row = 0; row < this.#size; row++) keys[row] = keys[row] / tau - Math.log(-Math.log(rng.random()))
    }
    const order = Int32Array.from({ length: this.#size }, (_, i) => i)
    return order.sort((a, b) => keys[b] - keys[a] || a - b).subarray(0, count)
  }
}

export const difficultyBased = selector({
  doc: 'tasks near a target pass rate, estimated online from two reference pass rates (BOTS)',
  args,
  features: [2, 2],
  create: (context, options) => new DifficultySelector(context, options),
})
