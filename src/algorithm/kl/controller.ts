import { TrinityError } from '../../base/error.js'
import type { KlArgs } from './kl.js'

/** How far one observation may move the coefficient, as a share of batch/horizon. */
const MAX_ERROR = 0.2

/**
 * The KL coefficient, fixed or adaptive. Adaptive: after a batch of n sequences whose KL was k,
 *   coef *= 1 + clip(k/target − 1, ±0.2)·n/horizon
 */
export class KlController {
  readonly #target: number | null
  readonly #horizon: number
  #coef: number

  constructor(args: KlArgs) {
    this.#coef = args.kl_coef
    this.#target = args.adaptive ? args.target_kl : null
    this.#horizon = args.horizon ?? 1
  }

  get coef(): number {
    return this.#coef
  }

  /** Takes note of the KL of a batch; a fixed coefficient stays. */
  update(kl: number, sequences: number): void {
    if (this.#target === null || !Number.isFinite(kl)) return
    const error = Math.min(MAX_ERROR, Math.max(-MAX_ERROR, kl / this.#target - 1))
    this.#coef *= 1 + (error * sequences) / this.#horizon
  }

  /** For checkpoints. */
  state(): { kl_coef: number } {
    return { kl_coef: this.#coef }
  }

  restore(state: { kl_coef: number }): void {
    if (!Number.isFinite(state.kl_coef)) {
      throw new TrinityError('algorithm/bad-state', `kl_coef in the checkpoint is ${state.kl_coef}`, {
        path: 'kl_coef',
      })
    }
    this.#coef = state.kl_coef
  }
}
