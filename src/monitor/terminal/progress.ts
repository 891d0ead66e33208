/** How far a role is, and how fast: measured over its last steps, since the first ones are rarely typical. */
export class Progress {
  step: number | undefined
  total: number | undefined
  readonly #ends: { step: number; at: number }[] = []
  static readonly #WINDOW = 20

  /** A step has ended at `at` (milliseconds). */
  reach(step: number, at: number): void {
    if (this.step !== undefined && step < this.step) this.#ends.length = 0
    if (step === this.step) return
    this.step = step
    this.#ends.push({ step, at })
    if (this.#ends.length > Progress.#WINDOW) this.#ends.shift()
  }

  get secondsPerStep(): number | undefined {
    const [first, last] = [this.#ends[0], this.#ends.at(-1)]
    if (!first || !last || last.step <= first.step) return undefined
    return (last.at - first.at) / 1000 / (last.step - first.step)
  }

  /** Seconds until the last step ends. */
  get left(): number | undefined {
    const each = this.secondsPerStep
    if (each === undefined || this.total === undefined || this.step === undefined) return undefined
    return Math.max(0, this.total - this.step) * each
  }

  /** Of all the steps, from 0 to 1. */
  get share(): number | undefined {
    if (this.total === undefined || !(this.total > 0) || !Number.isFinite(this.total)) return undefined
    return Math.min(1, (this.step ?? 0) / this.total)
  }

  /** `12/300`, or `12` where nobody knows how many there will be, or where there were more than expected. */
  get text(): string {
    const isKnown = this.total !== undefined && (this.step ?? 0) <= this.total
    return `${this.step ?? 0}${isKnown ? `/${this.total}` : ''}`
  }
}
