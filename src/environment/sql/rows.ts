import { floatText, quoted } from '../python-text.js'
import type { Cell } from './database/protocol.js'
import { kendallTau } from './kendall-tau.js'

/** The rows of a result, each as text. */
export type Rows = readonly string[]

/** A row as InterCode shows it, a tuple of Python: `(1, 'Ann', None)`. */
export function rowText(row: readonly Cell[]): string {
  return `(${row.map(cellText).join(', ')}${row.length === 1 ? ',' : ''})`
}

function cellText(cell: Cell): string {
  if (cell === null) return 'None'
  if (typeof cell === 'string') return quoted(cell)
  if (typeof cell === 'bigint') return String(cell)
  if (typeof cell === 'number') return Number.isFinite(cell) ? floatText(cell) : cell > 0 ? 'inf' : '-inf'
  return `b'${Buffer.from(cell).toString('hex').replace(/../g, '\\x$&')}'`
}

/** What a model sees of a result. */
export function resultText(rows: Rows, limit: number): string {
  const text = `[${rows.join(', ')}]`
  return text.length <= limit ? text : `${text.slice(0, limit)} … (${rows.length} rows)`
}

/**
 * The reward of InterCode: rows in both over rows in either, each as often as it stands there, times Kendall's tau of
 * the order of those in both. Two empty results are equal; a reversed order earns less than nothing.
 */
export function resultReward(agent: Rows, gold: Rows): number {
  const [has, wants] = [counts(agent), counts(gold)]
  const common = new Map<string, number>()
  let union = 0
  for (const row of new Set([...agent, ...gold])) {
    const [a, b] = [has.get(row) ?? 0, wants.get(row) ?? 0]
    union += Math.max(a, b)
    if (a > 0 && b > 0) common.set(row, Math.min(a, b))
  }
  if (union === 0) return 1
  const overlap = [...common.values()].reduce((sum, count) => sum + count, 0) / union
  const order = kendallTau(firstOf(agent, common), firstOf(gold, common))
  return Number.isNaN(order) ? overlap : toHundredths(order * overlap)
}

/** As Python's `round(value, 2)`: `toFixed` knows all digits, but leaves the middle to the larger neighbor. */
function toHundredths(value: number): number {
  const eighths = value * 8
  const isMiddle = Number.isInteger(eighths) && eighths % 2 !== 0
  if (!isMiddle) return Number(value.toFixed(2))
  const down = Math.floor(value * 100)
  return (down % 2 === 0 ? down : down + 1) / 100
}

function counts(rows: Rows): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of rows) found.set(row, (found.get(row) ?? 0) + 1)
  return found
}

/** The rows that are in `common`, in their order, each as often as it says. */
function firstOf(rows: Rows, common: ReadonlyMap<string, number>): string[] {
  const left = new Map(common)
  return rows.filter((row) => {
    const count = left.get(row) ?? 0
    left.set(row, count - 1)
    return count > 0
  })
}
