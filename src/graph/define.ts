import { TrinityError } from '../base/error.js'
import { type GraphMetric, graphInputs, type LossGraph } from './graph.js'
import type { Loss, LossRow } from './loss.js'
import { isBatchWide, type OpName } from './ops.js'
import { type Expr, Trace } from './trace.js'

/** Computes a normalizer from every row of the mini-batch. */
export type NormFn = (rows: readonly LossRow[]) => number

/** A trace that also knows how to compute the normalizers it hands out. */
export class LossTrace extends Trace {
  readonly #norms = new Map<string, NormFn>()
  readonly #reads = new Set<string>()

  /** `reads`: row columns that `compute` looks at. */
  override norm(name: string, compute?: NormFn, reads: readonly string[] = []): Expr {
    const known = this.#norms.get(name)
    if (compute && known && known !== compute) {
      throw new TrinityError('graph/duplicate', `there is already a normalizer named '${name}'`, { path: name })
    }
    if (compute) this.#norms.set(name, compute)
    for (const column of reads) this.#reads.add(column)
    return super.norm(name)
  }

  /**
   * The number that a share `q` of all active tokens (or rows) does not exceed, between two of them by their distance, as
   * NumPy has it. Needs the whole batch.
   */
  quantile(values: Expr, q: number): Expr {
    if (!(q >= 0 && q <= 1))
      throw new TrinityError('graph/invalid', `a quantile of ${q}`, { path: 'quantile', hint: 'use 0 … 1' })
    // counted from the greatest on
    const place = (rows: readonly LossRow[]) =>
      Math.max(0, (values.shape === 'row' ? rows.length : activeTokens(rows)) - 1) * (1 - q)
    const name = `quantile/${values.shape}/${q}`
    const known = this.#norms.has(`${name}/place`)
    const first = this.norm(`${name}/place`, known ? undefined : (rows) => Math.floor(place(rows)))
    const part = this.norm(`${name}/part`, known ? undefined : (rows) => place(rows) - Math.floor(place(rows)))
    const rank = values.rank()
    const at = (index: Expr) => rank.eq(index).where(values, 0).total()
    return at(first)
      .mul(part.neg().add(1))
      .add(at(first.add(1)).mul(part))
  }

  /** Row columns that only normalizers look at. */
  get reads(): ReadonlySet<string> {
    return this.#reads
  }

  get norms(): ReadonlyMap<string, NormFn> {
    return this.#norms
  }
}

/** Tokens of a mini-batch that take part in a loss. */
export function activeTokens(rows: readonly LossRow[]): number {
  let sum = 0
  for (const { mask } of rows) for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) sum++
  return sum
}

/**
 * Writes down a formula and gives the loss that an engine takes.
 * @example
 * import { defineLoss, evaluateLoss } from 'trinity-rft/algorithm'
 *
 * const loss = defineLoss((g) => g.column('advantage').mul(g.logprob).neg().total())
 * const rows = [{ mask: Uint8Array.of(1, 1), columns: { advantage: 0.5 } }]
 * const { grads } = evaluateLoss(loss, rows, loss.norms(rows), { logprob: Float32Array.of(-1, -2) })
 * console.log(grads.logprob) // -0.5, -0.5
 */
export function defineLoss(formula: (g: LossTrace) => Expr): Loss {
  const trace = new LossTrace()
  const graph = trace.finish(formula(trace))
  return makeLoss(graph, trace.norms)
}

/** A loss from a graph and the functions behind its normalizers. */
export function makeLoss(graph: LossGraph, norms: ReadonlyMap<string, NormFn>): Loss {
  const inputs = graphInputs(graph)
  const used = inputs.norms.map((name) => [name, norms.get(name)] as const)
  return {
    graph,
    wants: inputs.scores,
    coupling: couplingOf(graph),
    norms: (rows) => Object.fromEntries(used.flatMap(([name, compute]) => (compute ? [[name, compute(rows)]] : []))),
  }
}

/**
 * What must be evaluated together. A loss that is a weighted sum of totals adds up over any split of the rows; anything
 * else made from a total (its square, its use inside a token formula) needs the whole batch at once.
 */
export function couplingOf(graph: LossGraph): Loss['coupling'] {
  const kinds: TotalUse[] = []
  for (const { op, in: operands = [] } of graph.nodes) {
    kinds.push(
      totalUse(
        op,
        operands.map((i) => kinds[i]),
      ),
    )
  }
  const zero = graph.nodes[graph.loss].value === 0
  const lossAdds = kinds[graph.loss] === 'sum' || zero
  const metricAdds = ({ value, weight, reduce }: GraphMetric) =>
    kinds[value] !== 'mixed' &&
    (weight === undefined || kinds[weight] === 'free') &&
    (reduce === 'sum' || kinds[value] === 'free')
  if (!lossAdds || !graph.metrics.every(metricAdds)) return 'batch'
  if (graph.nodes.some(({ op }) => isBatchWide(op))) return 'batch'
  return graph.nodes.some((node) => node.op === 'bundleSum') ? 'bundle' : 'row'
}

/** `free`: no total below. `sum`: a weighted sum of totals. `mixed`: anything else made from totals. */
type TotalUse = 'free' | 'sum' | 'mixed'

function totalUse(op: OpName, operands: readonly TotalUse[]): TotalUse {
  const [a, b] = operands
  if (op === 'total') return a === 'free' ? 'sum' : 'mixed'
  if (operands.every((use) => use === 'free')) return 'free'
  const keeps =
    op === 'neg' || op === 'detach'
      ? a === 'sum'
      : op === 'add' || op === 'sub'
        ? a === 'sum' && b === 'sum'
        : op === 'mul'
          ? (a === 'sum' && b === 'free') || (a === 'free' && b === 'sum')
          : op === 'div' && a === 'sum' && b === 'free'
  return keeps ? 'sum' : 'mixed'
}
