import { TrinityError } from '../base/error.js'
import { GRAPH_VERSION, type GraphMetric, type GraphNode, type LossGraph } from './graph.js'
import type { LossMetric, ScoreKind } from './loss.js'
import { NodeList } from './nodes.js'
import type { OpName, Shape } from './ops.js'
import type { TokenFormula } from './program.js'

/** Anything that can stand in a formula: a symbolic value or a plain number. */
export type Operand = Expr | number

/**
 * A symbolic value. Its operations do not compute: they write down the formula, which is checked on the spot. Scalars
 * go with anything; a row value has to be brought `toTokens` before it meets token values.
 */
export class Expr {
  readonly trace: Trace
  readonly node: number

  constructor(trace: Trace, node: number) {
    this.trace = trace
    this.node = node
  }

  get shape(): Shape {
    return this.trace.shapeOf(this.node)
  }

  add = (other: Operand): Expr => this.#with('add', other)
  sub = (other: Operand): Expr => this.#with('sub', other)
  mul = (other: Operand): Expr => this.#with('mul', other)
  div = (other: Operand): Expr => this.#with('div', other)
  min = (other: Operand): Expr => this.#with('min', other)
  max = (other: Operand): Expr => this.#with('max', other)
  logAddExp = (other: Operand): Expr => this.#with('logAddExp', other)
  neg = (): Expr => this.#with('neg')
  exp = (): Expr => this.#with('exp')
  log = (): Expr => this.#with('log')
  abs = (): Expr => this.#with('abs')
  sqrt = (): Expr => this.#with('sqrt')
  sign = (): Expr => this.#with('sign')
  pow = (exponent: number): Expr => this.#with('pow', exponent)
  square = (): Expr => this.#with('mul', this)
  sigmoid = (): Expr => this.#with('sigmoid')
  logSigmoid = (): Expr => this.#with('logSigmoid')
  /** Bounds are numbers or normalizers. */
  clamp = (low: Operand, high: Operand): Expr => this.#with('clamp', low, high)
  /** The same value, but no gradient flows through it. */
  detach = (): Expr => this.#with('detach')

  lt = (other: Operand): Expr => this.#with('lt', other)
  le = (other: Operand): Expr => this.#with('le', other)
  gt = (other: Operand): Expr => this.#with('gt', other)
  ge = (other: Operand): Expr => this.#with('ge', other)
  eq = (other: Operand): Expr => this.#with('eq', other)
  and = (other: Expr): Expr => this.#with('and', other)
  or = (other: Expr): Expr => this.#with('or', other)
  not = (): Expr => this.#with('not')
  /** `yes` where this truth value holds, `no` elsewhere. The other branch gives neither value nor gradient. */
  where = (yes: Operand, no: Operand): Expr => this.#with('where', yes, no)
  /** 1 where this truth value holds, 0 elsewhere. */
  indicator = (): Expr => this.where(1, 0)

  /** Sum over the active tokens of each row. */
  rowSum = (): Expr => this.#with('rowSum')
  /** Mean over the active tokens of each row; 0 for a row that has none. */
  rowMean = (): Expr => this.rowSum().div(this.trace.count().max(1))
  /** Greatest of the active tokens of each row; 0 for a row that has none. */
  rowMax = (): Expr => this.#with('rowMax')
  /** A row's number or truth value for each of its tokens. */
  toTokens = (): Expr => this.#with('toTokens')
  /** Sum of a row value over the rows of its bundle, given to each of them. */
  bundleSum = (): Expr => this.#with('bundleSum')
  /** Sum of a row value over the rows of its group (one task), given to each of them. */
  groupSum = (): Expr => this.#with('groupSum')
  groupMean = (): Expr => this.groupSum().div(this.trace.count().ge(0).indicator().groupSum())
  groupMax = (): Expr => this.#with('groupMax')
  /** How many of all active tokens (or rows) stand before it, from the greatest on; of equal ones the earlier stands first. */
  rank = (): Expr => this.#with('rank')
  /** Sum over all whose rank (by `key`) is not below its own: from the least up to it. */
  cumSum = (key: Expr = this): Expr => this.#with('cumSum', key)
  /** Sum over all active tokens, or over all rows. */
  total = (): Expr => this.#with('total')

  #with(op: OpName, ...others: Operand[]): Expr {
    return this.trace.apply(op, this, ...others)
  }
}

/** Where a formula is written down. */
export class Trace {
  readonly #list = new NodeList()
  readonly #metrics: GraphMetric[] = []

  /** log p of each token under the model that is trained. */
  get logprob(): Expr {
    return this.#score('logprob')
  }
  /** Entropy of the distribution each token was drawn from. */
  get entropy(): Expr {
    return this.#score('entropy')
  }
  /** Σ π² over the vocabulary, of that distribution: the chance that two draws from it are the same token. */
  get sumPiSquared(): Expr {
    return this.#score('sum_pi_squared')
  }
  /** log p, under the same model, of the token whose id stands in a column: one that could have been drawn instead. */
  logprobAt(column: string): Expr {
    return this.#score(`logprob@${column}`)
  }
  /** Output of the value head at each token. */
  get value(): Expr {
    return this.#score('value')
  }

  /** A per-token input of the rows, such as `advantage`. A row that holds one number gives it to all its tokens. */
  column(name: string): Expr {
    return this.#make('column', { name, shape: 'token' })
  }
  /** An input that is one number per row. */
  rowColumn(name: string): Expr {
    return this.#make('column', { name, shape: 'row' })
  }
  /** A scalar that is computed from the whole mini-batch. */
  norm(name: string): Expr {
    return this.#make('norm', { name })
  }
  /** Number of active tokens of each row. */
  count(): Expr {
    return this.#make('count')
  }
  constant(value: number): Expr {
    if (!Number.isFinite(value)) {
      throw new TrinityError('graph/invalid', `${value} cannot be used in a graph`, {
        hint: 'constants must be finite',
      })
    }
    return new Expr(this, this.#list.constant(value))
  }

  /** Reports a number. `mean` (the default) is weighted: by `weight`, or every token or row counts the same. */
  metric(name: string, value: Operand, options: { reduce?: LossMetric['reduce']; weight?: Operand } = {}): void {
    const metric: GraphMetric = { name, value: this.#node(value), reduce: options.reduce ?? 'mean' }
    if (this.#metrics.some((other) => other.name === name)) {
      throw new TrinityError('graph/duplicate', `there is already a metric named '${name}'`, { path: name })
    }
    this.#metrics.push(options.weight === undefined ? metric : { ...metric, weight: this.#node(options.weight) })
  }

  apply(op: OpName, ...operands: Operand[]): Expr {
    return new Expr(
      this,
      this.#list.add(
        op,
        operands.map((operand) => this.#node(operand)),
      ),
    )
  }

  shapeOf(node: number): Shape {
    return this.#list.types[node].shape
  }

  /** The graph of everything that `loss` and the metrics need. */
  finish(loss: Expr): LossGraph {
    const root = this.#node(loss)
    const { shape, bool } = this.#list.types[root]
    if (shape !== 'scalar' || bool) {
      const what = bool ? 'truth value' : `${shape} value`
      throw new TrinityError('graph/invalid', `a loss is one number, not a ${what}`, { hint: 'sum it up with total()' })
    }
    const roots = this.#metrics.flatMap(({ value, weight }) => (weight === undefined ? [value] : [value, weight]))
    const { nodes, place } = this.#prune([root, ...roots])
    const metrics = this.#metrics.map((metric) => {
      const moved = { ...metric, value: place(metric.value) }
      return metric.weight === undefined ? moved : { ...moved, weight: place(metric.weight) }
    })
    return { version: GRAPH_VERSION, nodes, loss: place(root), metrics }
  }

  /** A formula whose values at the tokens are wanted, not a loss. */
  formula(value: Expr): TokenFormula {
    const root = this.#node(value)
    const { nodes, place } = this.#prune([root])
    return { nodes, node: place(root) }
  }

  /** Leaves out what nothing needs, so that dead ends of a formula do not change its graph. */
  #prune(roots: readonly number[]): { nodes: GraphNode[]; place: (old: number) => number } {
    const used = new Set(roots)
    for (let i = this.#list.nodes.length - 1; i >= 0; i--) {
      if (used.has(i)) for (const operand of this.#list.nodes[i].in ?? []) used.add(operand)
    }
    const kept = [...used].sort((a, b) => a - b)
    const places = new Map(kept.map((old, at) => [old, at]))
    const place = (old: number) => places.get(old)!
    const nodes = kept.map((old): GraphNode => {
      const node = this.#list.nodes[old] as GraphNode
      return node.in ? { ...node, in: node.in.map(place) } : node
    })
    return { nodes, place }
  }

  #score(name: ScoreKind): Expr {
    return this.#make('score', { name })
  }

  #make(op: OpName, rest: Omit<GraphNode, 'op' | 'in'> = {}): Expr {
    return new Expr(this, this.#list.add(op, [], rest))
  }

  #node(operand: Operand): number {
    if (typeof operand === 'number') return this.constant(operand).node
    if (operand.trace !== this) {
      throw new TrinityError('graph/foreign', 'an expression from another trace is used', {
        hint: 'build a formula only from values of its own trace',
      })
    }
    return operand.node
  }
}
