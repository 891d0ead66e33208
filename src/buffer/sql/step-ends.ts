/** Where the rows of each explorer step end. Rows are written step by step, so an end stands for all rows before it. */
export class StepEnds {
  #ends: [step: number, id: number][] = []

  /** Last step that is there. */
  get reached(): number {
    return this.#ends.at(-1)?.[0] ?? 0
  }

  /** The producer says again where it stands when it goes on: a step that is known stays as it is. */
  add(step: number, id: number): void {
    if (this.#ends.length === 0 || step > this.reached) this.#ends.push([step, id])
  }

  /** The end of this step and those of the steps behind it. What lies before is not asked for again. */
  from(step: number): number[] {
    const later = this.#ends.findIndex(([one]) => one > step)
    const at = Math.max(0, (later < 0 ? this.#ends.length : later) - 1)
    this.#ends.splice(0, at)
    // A step before the first known one has nothing that could be told apart from it.
    return this.#ends.map(([, id]) => id)
  }

  save(): [number, number][] {
    return this.#ends.map((end) => [...end])
  }

  load(ends: readonly [number, number][] = []): void {
    this.#ends = ends.map((end) => [...end])
  }
}
