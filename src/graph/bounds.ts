import { mapOp } from './ops.js'
import { functionOf } from './program.js'

/**
 * What is known of numbers before they are: each lies between two bounds, or may be no number at all. Truth values are
 * 0 and 1. All operations are monotone or handled by cases, and rounding is monotone, so bounds of a result are values
 * of the same operation at bounds of its operands.
 */
export class Bounds {
  readonly #low: Float64Array
  readonly #high: Float64Array
  /** 1: may be NaN; then the bounds say nothing. */
  readonly #wild: Uint8Array

  constructor(size: number) {
    this.#low = new Float64Array(size)
    this.#high = new Float64Array(size)
    this.#wild = new Uint8Array(size)
  }

  set(at: number, low: number, high: number): void {
    const isWild = !(low <= high)
    this.#low[at] = isWild ? -Infinity : low
    this.#high[at] = isWild ? Infinity : high
    this.#wild[at] = isWild ? 1 : 0
  }

  unknown(at: number): void {
    this.set(at, Number.NaN, Number.NaN)
  }

  copy(at: number, from: number): void {
    this.#low[at] = this.#low[from]
    this.#high[at] = this.#high[from]
    this.#wild[at] = this.#wild[from]
  }

  isZero(at: number): boolean {
    return this.#wild[at] === 0 && this.#low[at] === 0 && this.#high[at] === 0
  }

  /** Sum of `count` numbers between the bounds, in any order; rounding adds a little. */
  sum(at: number, from: number, count: number): void {
    const [low, high] = [this.#low[from] * count, this.#high[from] * count]
    const slack = count * Number.EPSILON
    if (count === 1 || this.#wild[from] === 1 || this.isZero(from)) this.copy(at, from)
    else this.set(at, low - Math.abs(low) * slack, high + Math.abs(high) * slack)
  }

  apply(at: number, op: string, operands: readonly number[]): void {
    const [a, b, c] = operands
    if (op === 'detach' || op === 'toTokens') this.copy(at, a)
    else if (op === 'where') this.#where(at, a, b, c)
    // A gradient of zero stays zero, whatever it is multiplied by.
    else if ((op === 'gmul' || op === 'gdiv') && this.isZero(a)) this.set(at, 0, 0)
    else if (op === 'gmul' || op === 'gdiv') this.apply(at, op.slice(1), operands)
    else if (mapOp(op)?.givesBool) this.#truth(at, op, operands)
    else if (operands.some((k) => this.#wild[k] === 1)) this.unknown(at)
    else if (op === 'abs') this.#abs(at, a)
    else if (op === 'clamp') this.#clamp(at, a, b, c)
    // A negative number to a whole power is not monotone.
    else if (op === 'pow' && this.#low[a] < 0) this.unknown(at)
    else if (!MONOTONE.has(op) || (op === 'div' && this.#low[b] <= 0 && this.#high[b] >= 0)) this.unknown(at)
    else this.#corners(at, op, operands)
  }

  /** Extremes of an operation that is monotone in every operand lie at bounds of the operands. */
  #corners(at: number, op: string, [a, b]: readonly number[]): void {
    const compute = functionOf(op)
    const [x0, x1] = [this.#low[a], this.#high[a]]
    const [y0, y1] = b === undefined ? [0, 0] : [this.#low[b], this.#high[b]]
    const [p, q, r, s] = [compute(x0, y0), compute(x0, y1), compute(x1, y0), compute(x1, y1)]
    // With a NaN among them both are NaN.
    this.set(at, Math.min(p, q, r, s), Math.max(p, q, r, s))
  }

  #abs(at: number, a: number): void {
    const [x, y] = [Math.abs(this.#low[a]), Math.abs(this.#high[a])]
    this.set(at, this.#low[a] <= 0 && this.#high[a] >= 0 ? 0 : Math.min(x, y), Math.max(x, y))
  }

  #clamp(at: number, x: number, low: number, high: number): void {
    const clamp = functionOf('clamp')
    const [from, to] = [this.#low[low], this.#high[high]]
    this.set(at, clamp(this.#low[x], from, to), clamp(this.#high[x], from, to))
  }

  #where(at: number, truth: number, yes: number, no: number): void {
    if (this.#low[truth] === 1) this.copy(at, yes)
    else if (this.#high[truth] === 0) this.copy(at, no)
    else if (this.#wild[yes] === 1 || this.#wild[no] === 1) this.unknown(at)
    else this.set(at, Math.min(this.#low[yes], this.#low[no]), Math.max(this.#high[yes], this.#high[no]))
  }

  #truth(at: number, op: string, [a, b]: readonly number[]): void {
    const [yes, no] = certain(op, this.#low[a], this.#high[a], this.#low[b], this.#high[b])
    // No comparison holds for NaN, so nothing is certain where there may be one.
    const isOpen = op !== 'not' && op !== 'and' && op !== 'or' && (this.#wild[a] === 1 || this.#wild[b] === 1)
    this.set(at, yes && !isOpen ? 1 : 0, no && !isOpen ? 0 : 1)
  }
}

const MONOTONE = new Set([
  'add',
  'sub',
  'mul',
  'div',
  'neg',
  'exp',
  'log',
  'sqrt',
  'sign',
  'pow',
  'sigmoid',
  'logSigmoid',
  'logAddExp',
  'min',
  'max',
])

/** Whether it holds for sure, and whether it fails for sure, for any a in [la, ha] and b in [lb, hb]. */
function certain(op: string, la: number, ha: number, lb: number, hb: number): [yes: boolean, no: boolean] {
  switch (op) {
    case 'not':
      return [ha === 0, la === 1]
    case 'and':
      return [la === 1 && lb === 1, ha === 0 || hb === 0]
    case 'or':
      return [la === 1 || lb === 1, ha === 0 && hb === 0]
    case 'lt':
      return [ha < lb, la >= hb]
    case 'le':
      return [ha <= lb, la > hb]
    case 'gt':
      return [la > hb, ha <= lb]
    case 'ge':
      return [la >= hb, ha < lb]
    case 'eq':
      return [la === ha && lb === hb && la === lb, ha < lb || la > hb]
    default:
      return [false, false]
  }
}
