import { TrinityError } from '../base/error.js'
import { activeTokens, type Expr, type LossRow, type LossTrace, type NormFn } from '../graph/index.js'
import type { AggMode } from './entry.js'

/** Rows that a part of a loss is about: those whose row column is 1 (`holds`) or 0. */
export interface RowSet {
  readonly name: string
  readonly column: string
  readonly holds: boolean
}

/** What a mode divides by: a normalizer of all rows, or of those of a set. */
export const DIVISORS: Readonly<Record<AggMode, string>> = {
  'token-mean': 'tokens',
  'seq-mean-token-sum': 'rows',
  'seq-mean-token-mean': 'rows',
  'seq-mean-token-sum-norm': 'width',
}

/** From a loss per token (or per row, where it says so) to one number. */
export type Aggregate = (values: Expr) => Expr

/**
 * The four ways to turn per-token losses into one number (m = mask, over the rows of the whole mini-batch):
 * - `token-mean`               Σ x·m / Σ m
 * - `seq-mean-token-sum`       mean over rows of Σ_t x·m
 * - `seq-mean-token-mean`      mean over rows of Σ_t x·m / Σ_t m
 * - `seq-mean-token-sum-norm`  Σ x·m / width of the longest row, or `scale`; the width is the batch's, also for a part of it
 *
 * All are weighted sums whose divisors are known before the forward pass. So the parts of a micro-batched loss add up
 * to the loss of the whole, whatever the split.
 */
export function aggregate(g: LossTrace, mode: AggMode, set?: RowSet, scale?: number): Aggregate {
  const norm = divisors(g, set)
  const pick = (x: Expr) => {
    if (x.shape !== 'token') {
      throw new TrinityError('graph/invalid', `a loss is aggregated from tokens, not from a ${x.shape} value`)
    }
    return set ? member(g, set).where(x, 0) : x
  }
  switch (mode) {
    case 'token-mean':
      return (x) => pick(x).total().div(norm(DIVISORS[mode], activeTokens))
    case 'seq-mean-token-sum':
      return (x) => pick(x).total().div(norm(DIVISORS[mode], countOf))
    case 'seq-mean-token-mean':
      return (x) => pick(x).div(g.count().max(1).toTokens()).total().div(norm(DIVISORS[mode], countOf))
    case 'seq-mean-token-sum-norm':
      return (x) =>
        pick(x)
          .total()
          .div(scale ?? width(g))
  }
}

/** The mean over the rows of the mini-batch, or over those of a set, of one number per row. */
export function aggregateRows(g: LossTrace, set?: RowSet): Aggregate {
  const norm = divisors(g, set)
  return (x) => {
    if (x.shape !== 'row') throw new TrinityError('graph/invalid', `expected a row value, not a ${x.shape} value`)
    const chosen = set ? rowsOf(g, set).where(x, 0) : x
    return chosen.total().div(norm('rows', countOf))
  }
}

/** Divisors that are computed from the rows of a set. */
function divisors(g: LossTrace, set?: RowSet) {
  const inSet = (row: LossRow) => set === undefined || (row.columns[set.column] === 1) === set.holds
  return (what: string, compute: NormFn) =>
    atLeast1(g, set ? `${set.name}/${what}` : what, (rows) => compute(rows.filter(inSet)))
}

/** Of the whole batch: parts of a loss that divided by their own widths would weigh their tokens differently. */
const width = (g: LossTrace) => atLeast1(g, DIVISORS['seq-mean-token-sum-norm'], widest)

/** Number of rows of the whole batch. */
export const rowCount = (g: LossTrace) => atLeast1(g, 'rows', countOf)

/** A divisor from the rows of the mini-batch. Whoever asks for the same name gets the same node. */
function atLeast1(g: LossTrace, name: string, compute: NormFn): Expr {
  return g.norms.has(name) ? g.norm(name) : g.norm(name, (rows) => Math.max(1, compute(rows)))
}

/** Truth value per token: does its row belong to the set? */
export const member = (g: LossTrace, set: RowSet): Expr => rowsOf(g, set).toTokens()

const rowsOf = (g: LossTrace, set: RowSet): Expr => g.rowColumn(set.column).eq(set.holds ? 1 : 0)

const countOf: NormFn = (rows) => rows.length

function widest(rows: readonly LossRow[]): number {
  return rows.reduce((width, row) => Math.max(width, row.mask.length), 0)
}
