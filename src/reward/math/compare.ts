import * as B from './ball.js'
import { basedValue } from './exact.js'
import { isScalar, type Node, type RelationNode, type SequenceNode, sequence } from './node.js'
import { compare as compareRational } from './rational.js'
import { approximated, bothSigns, decimalOf, namedValue, setOf } from './reading.js'
import { realSet, sameRealSet } from './realset.js'
import type { Scalars } from './scalar.js'

/** Whether two answers say the same. Symmetric. */
export function same(a: Node, b: Node, scalars: Scalars): boolean {
  if (a.kind === 'relation' || b.kind === 'relation') return sameRelation(a, b, scalars)
  const x = expanded(a)
  const y = expanded(b)
  if (x.kind === 'setop' || y.kind === 'setop' || x.kind === 'named' || y.kind === 'named')
    return sameSet(x, y, scalars)
  if (x.kind === 'sequence' || y.kind === 'sequence') return sameSequence(x, y, scalars)
  if (x.kind === 'matrix' || y.kind === 'matrix') return sameMatrix(x, y, scalars)
  if (x.kind === 'ratio' || y.kind === 'ratio') return sameRatio(x, y, scalars)
  if (x.kind === 'text' || y.kind === 'text') return x.kind === 'text' && y.kind === 'text' && sameText(x.text, y.text)
  if (x.kind === 'based' || y.kind === 'based') return sameBased(x, y, scalars)
  return isScalar(x) && isScalar(y) && scalars.equal(x, y)
}

/** Spaces and hyphens in words carry no meaning. */
function sameText(a: string, b: string): boolean {
  const plain = (text: string) => text.replace(/[\s\-_.,'"]+/g, '')
  return plain(a) === plain(b)
}

/** 1 ± √2 is a list of two values, and so is each ± in a list or a set. */
function expanded(node: Node): Node {
  if (node.kind === 'sequence' && (node.open === '' || node.open === '{')) {
    const items = node.items.flatMap((item) => bothSigns(item) ?? [item])
    return items.length === node.items.length ? node : sequence(node.open, items, node.close)
  }
  const signs = bothSigns(node)
  return signs ? sequence('', signs, '') : node
}

function sameRelation(a: Node, b: Node, scalars: Scalars): boolean {
  const approximate = isApproximate(a) ? a : isApproximate(b) ? b : undefined
  if (approximate) return sameApproximation(approximate, approximate === a ? b : a, scalars)
  if (a.kind === 'relation' && b.kind === 'relation') return sameRelations(a, b, scalars)
  const [relation, other] = a.kind === 'relation' ? [a, b] : [b as RelationNode, a]
  const value = namedValue(relation, scalars)
  if (value !== undefined) return same(value, other, scalars)
  const set = setOf(relation, scalars)
  return set !== undefined && same(set, other, scalars)
}

function isApproximate(node: Node): node is RelationNode {
  return node.kind === 'relation' && node.ops.includes('~')
}

/** 2/3 ≈ 0.67: the exact side counts. The rounded one does where the other side is a decimal too. */
function sameApproximation(node: RelationNode, other: Node, scalars: Scalars): boolean {
  const { exact, rounded } = approximated(node, scalars)
  if (isApproximate(other)) {
    const theirs = approximated(other, scalars)
    return both(exact, theirs.exact) || both(rounded, theirs.rounded ?? theirs.exact) || both(exact, theirs.rounded)
  }
  return both(exact, other) || (decimalOf(other) !== undefined && both(rounded, other))

  function both(a: Node | undefined, b: Node | undefined): boolean {
    return a !== undefined && b !== undefined && same(a, b, scalars)
  }
}

function sameRelations(a: RelationNode, b: RelationNode, scalars: Scalars): boolean {
  if (sameForm(a, b, scalars)) return true
  const [x, y] = [setOf(a, scalars), setOf(b, scalars)]
  if (x && y && same(x, y, scalars)) return true
  const equations = [a, b].every((r) => r.items.length === 2 && r.ops[0] === '=' && r.items.every(isScalar))
  if (!equations) return false
  // y = … and f(x) = … say the same.
  if (isHead(a.items[0]!) && isHead(b.items[0]!) && scalars.equal(a.items[1]!, b.items[1]!)) {
    if ((a.items[0]!.kind === 'call') !== (b.items[0]!.kind === 'call')) return true
  }
  return proportional(difference(a), difference(b), scalars)
}

const isHead = (node: Node) => node.kind === 'call' || (node.kind === 'symbol' && node.name === 'y')
const difference = ({ items }: RelationNode): Node => ({
  kind: 'add',
  items: [items[0]!, { kind: 'negate', item: items[1]! }],
})

const MIRRORED: Record<string, string> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }

function sameForm(a: RelationNode, b: RelationNode, scalars: Scalars): boolean {
  if (a.items.length !== b.items.length) return false
  const forward =
    a.ops.every((op, k) => op === b.ops[k]) && a.items.every((item, k) => same(item, b.items[k]!, scalars))
  if (forward) return true
  const [items, ops] = [[...b.items].reverse(), [...b.ops].reverse().map((op) => MIRRORED[op] ?? op)]
  return a.ops.every((op, k) => op === ops[k]) && a.items.every((item, k) => same(item, items[k]!, scalars))
}

/** Two equations are the same when one is a multiple of the other. */
function proportional(a: Node, b: Node, scalars: Scalars): boolean {
  const [x, y] = [scalars.numeric(a), scalars.numeric(b)]
  let first: B.Ball | undefined
  let points = 0
  for (const [k, p] of x.entries()) {
    const q = y[k]
    const quotient = p && q ? B.divide(p, q) : undefined
    if (quotient === undefined || B.magnitude(quotient) <= 4 * quotient.error) continue
    if (first === undefined) first = quotient
    else if (!B.equal(first, quotient)) return false
    points++
  }
  return points >= 3
}

function sameSet(a: Node, b: Node, scalars: Scalars): boolean {
  if (a.kind === 'named' && b.kind === 'named') return a.name === b.name
  const [x, y] = [asSet(a, scalars), asSet(b, scalars)]
  const [p, q] = [realSet(x, scalars), realSet(y, scalars)]
  if (p && q) return sameRealSet(p, q, scalars)
  if (x.kind !== 'setop' || y.kind !== 'setop' || x.op !== y.op || x.items.length !== y.items.length) return false
  if (x.op === 'minus') return x.items.every((item, k) => same(item, y.items[k]!, scalars))
  return unordered(x.items, y.items, scalars)
}

/** "x < 1 or x > 4" is a union. */
function asSet(node: Node, scalars: Scalars): Node {
  if (node.kind !== 'sequence' || node.open !== '') return node
  const items = node.items.map((item) => (item.kind === 'relation' ? setOf(item, scalars) : undefined))
  return items.every((item) => item !== undefined) ? { kind: 'setop', op: 'union', items } : node
}

function sameSequence(a: Node, b: Node, scalars: Scalars): boolean {
  const [x, y] = [asSequence(a), asSequence(b)]
  if (x === undefined || y === undefined) return sameSingle(a, b, scalars)
  const bare = x.open === '' || y.open === ''
  const set = x.open === '{' || y.open === '{'
  if (set) {
    if (!bare && x.open !== y.open) return false
    return unordered(distinct(x.items, scalars), distinct(y.items, scalars), scalars)
  }
  if (x.items.length !== y.items.length) return false
  const inOrder = x.items.every((item, k) => same(item, y.items[k]!, scalars))
  if (x.open === '' && y.open === '') return inOrder || unordered(x.items, y.items, scalars)
  return inOrder && (bare || (x.open === y.open && x.close === y.close))
}

/** A set or list of one value is that value. */
function sameSingle(a: Node, b: Node, scalars: Scalars): boolean {
  for (const [x, y] of [
    [a, b],
    [b, a],
  ] as const) {
    if (x.kind === 'sequence' && x.items.length === 1 && x.open !== '(') return same(x.items[0]!, y, scalars)
  }
  return false
}

/** A vector written as a column or a row is a tuple. */
function asSequence(node: Node): SequenceNode | undefined {
  if (node.kind === 'sequence') return node
  if (node.kind !== 'matrix') return undefined
  if (node.rows.length === 1) return sequence('(', node.rows[0]!, ')')
  return node.rows.every((row) => row.length === 1) ? sequence('(', node.rows.flat(), ')') : undefined
}

const MAX_UNORDERED = 64

function unordered(a: readonly Node[], b: readonly Node[], scalars: Scalars): boolean {
  if (a.length !== b.length) return false
  if (a.length > MAX_UNORDERED) return a.every((item, k) => same(item, b[k]!, scalars))
  const left = [...b]
  return a.every((item) => {
    const k = left.findIndex((other) => same(item, other, scalars))
    if (k >= 0) left.splice(k, 1)
    return k >= 0
  })
}

function distinct(items: readonly Node[], scalars: Scalars): Node[] {
  if (items.length > MAX_UNORDERED) return [...items]
  return items.filter((item, k) => !items.slice(0, k).some((earlier) => same(earlier, item, scalars)))
}

function sameMatrix(a: Node, b: Node, scalars: Scalars): boolean {
  if (a.kind !== 'matrix' || b.kind !== 'matrix' || a.rows.length !== b.rows.length) return false
  return a.rows.every((row, r) => {
    const other = b.rows[r]!
    return row.length === other.length && row.every((item, c) => same(item, other[c]!, scalars))
  })
}

function sameRatio(a: Node, b: Node, scalars: Scalars): boolean {
  if (a.kind === 'ratio' && b.kind === 'ratio') {
    return a.items.length === b.items.length && a.items.every((item, k) => same(item, b.items[k]!, scalars))
  }
  const [ratio, other] = a.kind === 'ratio' ? [a, b] : [b, a]
  if (ratio.kind !== 'ratio' || ratio.items.length !== 2 || !ratio.items.every(isScalar)) return false
  return same({ kind: 'divide', left: ratio.items[0]!, right: ratio.items[1]! }, other, scalars)
}

/** 28_9 against 28: the base is known from the question, so the digits decide. */
function sameBased(a: Node, b: Node, scalars: Scalars): boolean {
  if (a.kind === 'based' && b.kind === 'based') return a.base === b.base && a.digits === b.digits
  const [based, other] = a.kind === 'based' ? [a, b] : [b, a]
  if (based.kind !== 'based') return false
  const digits = basedValue(based.digits, 10)
  const value = scalars.exact(other)[0]
  return digits !== undefined && value !== undefined && compareRational(digits, value) === 0
}
