/** How a trial of one length ended. `memory` and `time`: it is too long; whatever else went wrong is thrown. */
export interface LengthTrial {
  readonly length: number
  readonly end: 'trained' | 'memory' | 'time'
  /** Most memory that was held, where somebody knows. */
  readonly peakBytes?: number
}

export interface LengthQuestion {
  readonly start: number
  /** Lengths are multiples of this. */
  readonly step: number
  /** Nothing longer is tried. */
  readonly most: number
}

/**
 * Looks for the largest length that can be trained: twice the last one until it fails, then halves between the last that
 * did not and the first that did. Gives all trials, in order.
 */
export async function searchLength(
  { start, step, most }: LengthQuestion,
  attempt: (length: number) => Promise<LengthTrial>,
): Promise<LengthTrial[]> {
  const trials: LengthTrial[] = []
  const trains = async (units: number) => {
    trials.push(await attempt(units * step))
    return trials[trials.length - 1].end === 'trained'
  }
  const limit = Math.floor(most / step)
  let good = 0
  let bad = limit + 1
  for (let units = Math.min(limit, Math.max(1, Math.ceil(start / step))); good < limit; ) {
    if (!(await trains(units))) {
      bad = units
      break
    }
    good = units
    units = Math.min(limit, units * 2)
  }
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (await trains(middle)) good = middle
    else bad = middle
  }
  return trials
}

/** The longest that was trained; 0: none. */
export function largestOf(trials: readonly LengthTrial[]): number {
  return Math.max(0, ...trials.filter(({ end }) => end === 'trained').map(({ length }) => length))
}
