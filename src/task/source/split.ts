import { TrinityError } from '../../base/error.js'

/** A bound of a slice: rows, or per cent of all rows; negative ones count from the end. */
interface Bound {
  value: number
  percent: boolean
}

/** One term of a split such as `train[10%:20%]`. */
export interface SplitTerm {
  name: string
  from?: Bound
  to?: Bound
}

const TERM = /^([\w.-]+)(?:\[(-?\d+%?)?:(-?\d+%?)?\])?$/

/** Splits as Hugging Face users write them: `train`, `train[:100]`, `train[10%:20%]`, `train+validation`. */
export function parseSplit(split: string): SplitTerm[] {
  return split.split('+').map((term) => {
    const match = TERM.exec(term.trim())
    if (!match) {
      throw new TrinityError('data/split', `cannot read the split '${split}'`, {
        path: 'split',
        hint: 'write a name, a slice or a sum: train, train[:100], train[10%:20%], train+validation',
      })
    }
    return { name: match[1], from: bound(match[2]), to: bound(match[3]) }
  })
}

function bound(text: string | undefined): Bound | undefined {
  if (text === undefined) return undefined
  const percent = text.endsWith('%')
  return { value: Number(percent ? text.slice(0, -1) : text), percent }
}

/** Rows [start, end) of a split of `length` rows that a term stands for. Per cents are rounded to the nearest row. */
export function sliceOf(term: SplitTerm, length: number): { start: number; end: number } {
  const row = (bound: Bound | undefined, otherwise: number): number => {
    if (!bound) return otherwise
    const rows = bound.percent ? Math.round((bound.value / 100) * length) : bound.value
    return Math.min(length, Math.max(0, rows < 0 ? length + rows : rows))
  }
  const start = row(term.from, 0)
  return { start, end: Math.max(start, row(term.to, length)) }
}
