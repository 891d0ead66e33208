/** So many points of a run are kept, however long it is: more than any terminal is wide. */
const MOST = 512

interface Point {
  step: number
  value: number
  count: number
}

/** The course of a number over the steps of a run, in bounded memory: old points are merged when there are too many. */
export class Series {
  #points: Point[] = []
  /** Values in a point. */
  #each = 1

  add(step: number, value: number): void {
    if (!Number.isFinite(value)) return
    const last = this.#points.at(-1)
    // a stage that begins anew, or a run that went back
    if (last && step < last.step) {
      this.#points = []
      this.#each = 1
    }
    const open = this.#points.at(-1)
    if (open && open.count < this.#each) {
      open.value += (value - open.value) / ++open.count
      open.step = step
    } else this.#points.push({ step, value, count: 1 })
    if (this.#points.length >= MOST) this.#merge()
  }

  /** The newest value, or the mean of the newest few in a long run. */
  get last(): number | undefined {
    return this.#points.at(-1)?.value
  }

  /** The course from the first step to the newest in so many values; none where there are fewer than two points. */
  sampled(count: number): number[] {
    const points = this.#points
    if (points.length < 2) return []
    const [first, last] = [points[0].step, points[points.length - 1].step]
    let at = 0
    return Array.from({ length: count }, (_, i) => {
      const step = first + ((last - first) * i) / Math.max(1, count - 1)
      const from = at
      while (at < points.length - 2 && points[at + 1].step <= step) at++
      // several points in one column: their mean, so that none is lost
      if (at - from > 1) return mean(points.slice(from + 1, at + 1).map(({ value }) => value))
      const [a, b] = [points[at], points[at + 1]]
      const share = b.step === a.step ? 1 : Math.min(1, (step - a.step) / (b.step - a.step))
      return a.value + (b.value - a.value) * share
    })
  }

  #merge(): void {
    const merged: Point[] = []
    for (let i = 0; i < this.#points.length; i += 2) {
      const [a, b] = [this.#points[i], this.#points[i + 1]]
      if (!b) merged.push(a)
      else {
        const count = a.count + b.count
        merged.push({ step: b.step, value: (a.value * a.count + b.value * b.count) / count, count })
      }
    }
    this.#points = merged
    this.#each *= 2
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
