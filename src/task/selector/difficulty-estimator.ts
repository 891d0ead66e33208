export interface EstimatorArgs {
  /** Runs that one observation stands for. */
  m: number
  /** How fast old observations are forgotten. */
  lamb: number
  /** Weight of predictions beside observations. */
  rho: number
  /** Halves `rho` when the predictions of a batch are off by a quarter or more. */
  adaptive_rho: boolean
}

/**
 * Pass rates of all tasks from those of a few, after the BOTS method. Each task keeps a Beta(α, β); an observed batch
 * places the policy between a weak and a strong reference model (whose pass rates are the two features), and that
 * capability predicts the tasks that were not observed.
 */
export class DifficultyEstimator {
  readonly #weak: Float64Array
  readonly #strong: Float64Array
  readonly #args: EstimatorArgs
  readonly alpha: Float64Array
  readonly beta: Float64Array
  #capability?: number
  #rho: number

  constructor(weak: Float64Array, strong: Float64Array, args: EstimatorArgs) {
    this.#weak = weak
    this.#strong = strong
    this.#args = args
    this.#rho = args.rho
    this.alpha = new Float64Array(weak.length).fill(1)
    this.beta = new Float64Array(weak.length).fill(1)
  }

  /** Takes note of what was observed. A rate that is not finite says nothing. */
  update(given: ArrayLike<number>, observations: ArrayLike<number>): void {
    const { m, lamb, adaptive_rho } = this.#args
    const told = Array.from(given, (_, i) => i).filter((i) => Number.isFinite(observations[i]))
    const [rows, rates] = [told.map((i) => given[i]), told.map((i) => observations[i])]
    const count = rows.length
    if (count === 0) return
    let rate = 0
    let weak = 0
    let strong = 0
    for (let i = 0; i < count; i++) {
      rate += rates[i] / count
      weak += this.#weak[rows[i]] / count
      strong += this.#strong[rows[i]] / count
    }
    const seen = (rate - weak) / (strong - weak + 1e-6)
    this.#capability = this.#capability === undefined ? seen : 0.9 * this.#capability + 0.1 * seen

    let error = 0
    for (let i = 0; i < count; i++) error += Math.abs(this.#predicted(rows[i]) - rates[i]) / count
    if (adaptive_rho && error >= 0.25) this.#rho *= 0.5
    const rho = this.#rho
    const observed = new Float64Array(this.alpha.length).fill(Number.NaN)
    for (let i = 0; i < count; i++) observed[rows[i]] = rates[i]
    for (let row = 0; row < observed.length; row++) {
      const known = !Number.isNaN(observed[row])
      const guess = known ? observed[row] : this.#predicted(row)
      const weight = known ? m : rho * m
      this.alpha[row] = (1 - lamb) * this.alpha[row] + lamb + weight * guess
      this.beta[row] = (1 - lamb) * this.beta[row] + lamb + weight * (1 - guess)
    }
  }

  passRate(row: number): number {
    return this.alpha[row] / (this.alpha[row] + this.beta[row])
  }

  state(): { alpha: number[]; beta: number[]; capability: number | null; rho: number } {
    return { alpha: [...this.alpha], beta: [...this.beta], capability: this.#capability ?? null, rho: this.#rho }
  }

  restore(state: ReturnType<DifficultyEstimator['state']>): void {
    this.alpha.set(state.alpha)
    this.beta.set(state.beta)
    this.#capability = state.capability ?? undefined
    this.#rho = state.rho
  }

  #predicted(row: number): number {
    const weak = this.#weak[row]
    return Math.min(1, Math.max(0, (this.#strong[row] - weak) * (this.#capability ?? 0) + weak))
  }
}
