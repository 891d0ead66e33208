import { Bounds } from './bounds.js'
import type { LossGraph } from './graph.js'
import { idColumn, type LossRow, type ScoreKind } from './loss.js'
import { isBatchWide } from './ops.js'
import { type Derivative, lossProgram } from './program.js'

/** What any model's scores keep to: they are finite single-precision numbers, log-probs not above 0 but for rounding. */
const MOST = 3.4028234663852886e38
const SCORES = {
  logprob: [-MOST, 1e-3],
  entropy: [-MOST, MOST],
  sum_pi_squared: [0, 1 + 1e-3],
  value: [-MOST, MOST],
} as const

const boundsOf = (kind: string): Range =>
  SCORES[idColumn(kind) === undefined ? (kind as keyof typeof SCORES) : 'logprob']

const NONE = new Float32Array(0)

/** Whether scores are what `silentRows` takes for granted. */
export function ordinary(scores: Readonly<Partial<Record<ScoreKind, Float32Array>>>): boolean {
  return Object.entries(scores).every(([kind, values = NONE]) => {
    const [low, high] = boundsOf(kind)
    for (let i = 0; i < values.length; i++) if (!(values[i] >= low && values[i] <= high)) return false
    return true
  })
}

/**
 * Rows whose gradient is 0 whatever the model's scores will be: their advantage is 0 and nothing else pulls at them.
 * Known before the forward pass, by following bounds of every number through the derivative. `true` is certain (for
 * ordinary scores), `false` only means that nothing is known.
 */
export function silentRows(
  graph: LossGraph,
  rows: readonly LossRow[],
  norms: Readonly<Record<string, number>>,
): boolean[] {
  const { derivative } = lossProgram(graph)
  if (derivative.grads.length === 0) return rows.map(() => true)
  return rows.map((row) => {
    const columns = columnBounds(derivative, row)
    return columns !== undefined && isSilent(derivative, row, columns, norms)
  })
}

type Range = readonly [low: number, high: number]

/** Bounds of the row's columns; undefined where none of them is 0 throughout, so that nothing could silence the row. */
function columnBounds({ columns }: Derivative, { columns: given, mask }: LossRow): Map<string, Range> | undefined {
  const found = new Map<string, Range>()
  let hasZero = false
  for (const name of columns) {
    const column = given[name]
    if (column === undefined) return undefined
    let [low, high] = typeof column === 'number' ? [column, column] : [Infinity, -Infinity]
    if (typeof column !== 'number') {
      for (let i = 0; i < mask.length; i++) {
        if (mask[i] === 0) continue
        const x = column[i]
        if (Number.isNaN(x)) return undefined
        if (x > high) high = x
        if (x < low) low = x
      }
    }
    if (low === 0 && high === 0) hasZero = true
    found.set(name, [low, high])
  }
  return hasZero ? found : undefined
}

function isSilent(
  { nodes, grads }: Derivative,
  { mask, bundle }: LossRow,
  columns: ReadonlyMap<string, Range>,
  norms: Readonly<Record<string, number>>,
): boolean {
  const active = mask.reduce((sum, one) => sum + (one === 0 ? 0 : 1), 0)
  if (active === 0) return false
  const bounds = new Bounds(nodes.length)
  for (const [at, { op, value, name, in: operands = [] }] of nodes.entries()) {
    if (op === 'const') bounds.set(at, value!, value!)
    else if (op === 'count') bounds.set(at, active, active)
    else if (op === 'column') bounds.set(at, ...columns.get(name!)!)
    else if (op === 'score') bounds.set(at, ...boundsOf(name!))
    else if (op === 'norm') bounds.set(at, norms[name!], norms[name!])
    else if (op === 'rowSum') bounds.sum(at, operands[0], active)
    else if (op === 'rowMax' || (op === 'bundleSum' && bundle === undefined)) bounds.copy(at, operands[0])
    else if (op === 'bundleSum' || op.startsWith('total') || isBatchWide(op)) bounds.unknown(at)
    else bounds.apply(at, op, operands)
  }
  return grads.every((node) => bounds.isZero(node))
}
