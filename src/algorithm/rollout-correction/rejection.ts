import type { Criterion } from './criterion.js'
import type { LogRatios } from './log-ratios.js'

/** The mask without what any criterion leaves out. Each looks at the whole sequence, whatever the others do. */
export function reject(row: LogRatios, criteria: readonly Criterion[], veto: number | null) {
  const isVetoed = veto !== null && row.d.some((d, i) => row.mask[i] !== 0 && Math.exp(d) < veto)
  const mask = isVetoed ? new Uint8Array(row.mask.length) : row.mask.slice()
  const failed = criteria.map((criterion) => {
    const outside = outsideOf(criterion, row)
    let count = 0
    for (let i = 0; i < mask.length; i++) {
      if (row.mask[i] === 0 || !outside(i)) continue
      mask[i] = 0
      count++
    }
    return count
  })
  const kept = mask.reduce((sum, m) => sum + (m === 0 ? 0 : 1), 0)
  /** Tokens that each criterion leaves out. */
  return { mask, kept, failed }
}

function outsideOf({ over, of, low, high }: Criterion, row: LogRatios): (i: number) => boolean {
  const isOutside = (x: number) => x < low || x > high
  if (over === 'token') return (i) => isOutside(of(row.d[i]))
  const all = isOutside(ofSequence(over, of, row))
  return () => all
}

function ofSequence(over: 'sum' | 'mean' | 'max', of: Criterion['of'], { d, mask, active }: LogRatios): number {
  let [sum, top] = [0, Number.NEGATIVE_INFINITY]
  for (let i = 0; i < d.length; i++) {
    if (mask[i] === 0) continue
    const x = of(d[i])
    sum += x
    top = Math.max(top, x)
  }
  if (active === 0) return 0
  return over === 'max' ? top : over === 'sum' ? sum : sum / active
}
