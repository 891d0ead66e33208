import { sameChoice } from './choice.js'
import { same } from './compare.js'
import { modes } from './mode.js'
import { type Node, some } from './node.js'
import { MAX_LENGTH, parseAnswer, type Reading } from './parse.js'
import { Budget, hash, type Mode, NumericSample, OutOfBudget } from './sample.js'
import { Scalars } from './scalar.js'
import { clean, plainText } from './text.js'

export interface GradeOptions {
  /** Relative difference between numbers that is forgiven. Default 0: equal values only. */
  tolerance?: number
  /** Also forgive a factor of 100, as evaluations of percentages do. Default false. */
  percentage?: boolean
}

/** Nodes that one comparison may evaluate. */
const BUDGET = 60_000

/** Whether an answer, LaTeX or plain, has the value of the truth. Symmetric; never throws; takes bounded time. */
export function gradeMath(answer: string, truth: string, options: GradeOptions = {}): boolean {
  if (answer === truth) return true
  const [a, b] = [clean(answer), clean(truth)]
  if (a === b) return true
  if (a === '' || b === '' || a.length > MAX_LENGTH || b.length > MAX_LENGTH) return false
  if (sameChoice(a, b)) return true
  const readings = [a, b].map(allReadings) as [Reading[], Reading[]]
  for (const x of readings[0]) {
    for (const y of readings[1]) {
      if (sameTokens(x, y)) return true
      if (x.node && y.node && sameValue(x.node, y.node, hash(a, 1) ^ hash(b, 1), options)) return true
    }
  }
  const [p, q] = [plainText(a), plainText(b)]
  return p !== undefined && p === q
}

/** `1,234` is one number, or two: both readings count. */
function allReadings(text: string): Reading[] {
  const readings = [parseAnswer(text, true)]
  if (/\d,\d{3}(?!\d)/.test(text)) readings.push(parseAnswer(text, false))
  return readings
}

function sameTokens(a: Reading, b: Reading): boolean {
  if (a.tokens.length !== b.tokens.length || a.tokens.length === 0) return false
  return a.tokens.every((token, k) => {
    const other = b.tokens[k]!
    return token.kind === other.kind && token.text === other.text && token.repeating === other.repeating
  })
}

function sameValue(a: Node, b: Node, seed: number, options: GradeOptions): boolean {
  const budget = new Budget(BUDGET)
  try {
    return modes(a, b).some((mode) => {
      const scalars = new Scalars(samples(a, b, seed, mode, budget), options.tolerance ?? 0)
      if (same(a, b, scalars)) return true
      if (!options.percentage) return false
      const hundred: Node = { kind: 'number', value: { n: 100n, d: 1n } }
      const times = (node: Node): Node => ({ kind: 'multiply', items: [hundred, node] })
      return same(times(a), b, scalars) || same(a, times(b), scalars)
    })
  } catch (error) {
    if (error instanceof OutOfBudget) return false
    throw error
  }
}

/**
 * Names take negative values too, unless a root or a logarithm is taken of one: there the writer means the positive case
 * (√(p²) = p), except where he says |p|. Where there are floors, factorials or binomials, he means whole numbers.
 */
function samples(a: Node, b: Node, seed: number, mode: Mode, budget: Budget): NumericSample[] {
  const at = (k: number, range: NumericSample['range']) =>
    new NumericSample(mode, (seed + k * 0x9e3779b9) >>> 0, budget, range)
  if (some(a, isWhole) || some(b, isWhole)) {
    return Array.from({ length: WHOLE_POINTS }, (_, step) => new NumericSample(mode, seed >>> 0, budget, 'whole', step))
  }
  const positive = (rootsNames(a) || rootsNames(b)) && !some(a, isAbs) && !some(b, isAbs)
  return [1, 2, 3, 4].map((k) => at(k, positive || k < 3 ? 'positive' : 'signed'))
}

/** Steps of ⌊√n⌋ are far apart: it takes many points to see one. */
const WHOLE_POINTS = 48

const isWhole = (node: Node) => node.kind === 'call' && /^(?:floor|ceil|factorial|binomial)$/.test(node.name)
const isAbs = (node: Node) => node.kind === 'call' && node.name === 'abs'
const hasName = (node: Node) => some(node, (n) => n.kind === 'symbol' && !n.unit)

function rootsNames(node: Node): boolean {
  return some(node, (n) => {
    if (n.kind === 'power') return (n.right.kind === 'divide' && hasName(n.left)) || hasName(n.right)
    return n.kind === 'call' && (n.name === 'ln' || n.name === 'log') && n.items.some(hasName)
  })
}
