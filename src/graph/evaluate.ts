import { TrinityError } from '../base/error.js'
import type { Layout } from './emit.js'
import type { Loss, LossMetric, LossMetrics, LossRow, ScoreKind } from './loss.js'
import { lossProgram, type Program, type ProgramArgs, type TokenFormula, tokenProgram } from './program.js'

/** One number per scored token: the rows' tokens concatenated in order, masked ones included. */
export type TokenScores = Partial<Record<ScoreKind, Float32Array>>

/** A loss, worked out on rows: its value, its metrics and its gradient. */
export interface Evaluation {
  readonly loss: number
  readonly metrics: LossMetrics
  /** d(loss)/d(score), laid out as the scores; 0 at masked tokens. A score the loss does not depend on is absent. */
  readonly grads: TokenScores
}

/**
 * Value, metrics and gradient of a loss on some rows of a mini-batch. `norms` come from `loss.norms` of the WHOLE
 * mini-batch. What stands at masked tokens is never read, so it may be anything.
 */
export function evaluateLoss(
  loss: Pick<Loss, 'graph'>,
  rows: readonly LossRow[],
  norms: Readonly<Record<string, number>>,
  scores: TokenScores,
): Evaluation {
  const program = lossProgram(loss.graph)
  const args = marshal(program.layout, rows, norms, scores)
  const length = tokenCount(rows)
  args.outs = program.outs.map(() => new Float32Array(length))
  args.result = new Float64Array(program.results)
  program.run(args)
  const metrics: Record<string, LossMetric> = {}
  for (const { name, reduce, value, weight } of program.metrics) {
    const heavy = args.result[weight]
    const sum = args.result[value]
    metrics[name] = {
      value: reduce === 'mean' ? (heavy === 0 ? 0 : sum / heavy) : heavy === 0 ? 0 : sum,
      weight: heavy,
      reduce,
    }
  }
  return {
    loss: args.result[0],
    metrics,
    grads: Object.fromEntries(program.outs.map((kind, k) => [kind, args.outs[k]])),
  }
}

const tokenPrograms = new WeakMap<TokenFormula, Pick<Program, 'layout' | 'run'>>()

/** Values of a formula over tokens, laid out as the scores; 0 at masked tokens. No gradient. */
export function evaluateTokens(
  formula: TokenFormula,
  rows: readonly LossRow[],
  norms: Readonly<Record<string, number>>,
  scores: TokenScores,
): Float32Array {
  const program = tokenPrograms.get(formula) ?? tokenProgram(formula)
  tokenPrograms.set(formula, program)
  const args = marshal(program.layout, rows, norms, scores)
  const out = new Float32Array(tokenCount(rows))
  args.outs = [out]
  program.run(args)
  return out
}

function marshal(
  layout: Layout,
  rows: readonly LossRow[],
  norms: Readonly<Record<string, number>>,
  scores: TokenScores,
): ProgramArgs {
  const offsets = new Int32Array(rows.length)
  const counts = new Float64Array(rows.length)
  let length = 0
  for (const [r, { mask }] of rows.entries()) {
    offsets[r] = length
    length += mask.length
    let active = 0
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) active++
    counts[r] = active
  }
  return {
    rows: rows.length,
    offsets,
    counts,
    masks: rows.map((row) => row.mask),
    bundles: bundleNumbers(rows),
    groups: layout.grouped ? groupNumbers(rows) : NONE,
    active: layout.ordered ? activePlaces(rows) : NONE,
    tokens: layout.tokenColumns.map((name) => rows.map((row, r) => tokenColumn(row, r, name))),
    columns: layout.rowColumns.map((name) => Float64Array.from(rows, (row, r) => rowColumn(row, r, name))),
    scores: layout.scores.map((kind) => scoreOf(scores, kind as ScoreKind, length)),
    norms: Float64Array.from(layout.norms, (name) => normOf(norms, name)),
    outs: [],
    result: new Float64Array(0),
  }
}

function tokenCount(rows: readonly LossRow[]): number {
  return rows.reduce((sum, row) => sum + row.mask.length, 0)
}

const NONE = new Int32Array(0)

/** Where the active tokens stand in the concatenated scores. */
function activePlaces(rows: readonly LossRow[]): Int32Array {
  const places: number[] = []
  let at = 0
  for (const { mask } of rows) for (let i = 0; i < mask.length; i++, at++) if (mask[i] !== 0) places.push(at)
  return Int32Array.from(places)
}

export const bundleNumbers = (rows: readonly LossRow[]) => numbers(rows.map(({ bundle }) => bundle))
export const groupNumbers = (rows: readonly LossRow[]) => numbers(rows.map(({ group }) => group))

/** The first index of each name; its own where there is none. */
function numbers(names: readonly (string | undefined)[]): Int32Array {
  const known = new Map<string, number>()
  return Int32Array.from(names, (name, r) => {
    if (name === undefined) return r
    const number = known.get(name) ?? r
    known.set(name, number)
    return number
  })
}

export function tokenColumn(row: LossRow, r: number, name: string): Float32Array {
  const column = row.columns[name]
  if (typeof column === 'number') return new Float32Array(row.mask.length).fill(column)
  if (column === undefined) return missing('graph/missing-column', `row ${r} has no column '${name}'`, name)
  if (column.length === row.mask.length) return column
  const message = `column '${name}' of row ${r} has ${column.length} entries for ${row.mask.length} scored tokens`
  return missing('graph/bad-column', message, name)
}

export function rowColumn(row: LossRow, r: number, name: string): number {
  const column = row.columns[name]
  if (typeof column === 'number') return column
  if (column === undefined) return missing('graph/missing-column', `row ${r} has no column '${name}'`, name)
  return missing('graph/bad-column', `column '${name}' of row ${r} must be one number for the row`, name)
}

function scoreOf(scores: TokenScores, kind: ScoreKind, length: number): Float32Array {
  const score = scores[kind]
  if (!score)
    return missing('graph/missing-score', `the loss reads the ${kind} of each token, which is not given`, kind)
  if (score.length === length) return score
  return missing('graph/bad-score', `${score.length} scores '${kind}' for ${length} scored tokens`, kind)
}

export function normOf(norms: Readonly<Record<string, number>>, name: string): number {
  const norm = Object.hasOwn(norms, name) ? norms[name] : undefined
  if (norm === undefined) return missing('graph/missing-norm', `normalizer '${name}' is not given`, name)
  if (Number.isFinite(norm)) return norm
  return missing('graph/bad-norm', `normalizer '${name}' is ${norm}`, name)
}

function missing(code: string, message: string, path: string): never {
  throw new TrinityError(code, message, { path, hint: 'see docs/loss-graph.md for what a loss reads' })
}
