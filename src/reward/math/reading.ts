import { mapChildren, type Node, type NumberNode, type RelationNode, sequence, some } from './node.js'
import { isRounding, type Scalars } from './scalar.js'

/** The value that "x = 5", "5 = x", "f(x) = x + 1", "6 + 30 = 36" give; `undefined` for a true equation such as x + y = 1. */
export function namedValue(node: RelationNode, scalars: Scalars): Node | undefined {
  if (node.ops.length !== node.items.length - 1 || !node.ops.every((op) => op === '=')) return undefined
  const first = node.items[0]!
  const last = node.items[node.items.length - 1]!
  // x = y = 5 has one value; x = 1 = 2 has none.
  const agrees = (item: Node) => isName(item) || scalars.equal(item, last)
  if (isName(first) && !uses(last, first)) return node.items.slice(1, -1).every(agrees) ? last : undefined
  if (node.items.length === 2 && isName(last) && !uses(first, last)) return first
  // A calculation written out is worth its result, when it is right.
  return node.items.every((item) => scalars.constant(item) !== undefined && scalars.equal(item, last))
    ? last
    : undefined
}

/**
 * What a chain with ≈ says: its first value, and its last one when that is the first, rounded to two digits or more. Never
 * more than that: 1 ≈ 2 ≈ 3 would be right for every truth. Values that are far apart say nothing at all.
 */
export function approximated({ ops, items }: RelationNode, scalars: Scalars): { exact?: Node; rounded?: Node } {
  const values = ops.length < items.length && isName(items[0]!) ? items.slice(1) : items
  const [exact, last] = [values[0], values[values.length - 1]]
  const written = last && decimalOf(last)
  const value = exact && scalars.constant(exact)
  if (value !== undefined && !values.every((item) => isNear(item, value, scalars))) return {}
  if (written === undefined || value === undefined || (written.significant ?? 0) < 2) return { exact }
  return { exact, rounded: isRounding(written, last === written ? value : -value) ? last : undefined }
}

/** Whether ≈ can be meant: one unit of a whole number, or some per cent. */
function isNear(item: Node, value: number, scalars: Scalars): boolean {
  const other = scalars.constant(item)
  return other === undefined || other === value || Math.abs(other - value) <= Math.max(1, Math.abs(value) / 20)
}

/** A number written with digits after the point, with or without a minus sign. */
export function decimalOf(node: Node): NumberNode | undefined {
  const inner = node.kind === 'negate' ? node.item : node
  return inner.kind === 'number' && (inner.decimals ?? 0) > 0 ? inner : undefined
}

/** What a value is called: x, f(x), ∠ABC, (x, y), AB. */
function isName(node: Node): boolean {
  if (node.kind === 'symbol') return !node.unit
  if (node.kind === 'call') return node.name.startsWith('apply ')
  if (node.kind === 'sequence') return node.items.every(isName)
  if (node.kind === 'text') return true
  return node.kind === 'multiply' && node.items.every((item) => item.kind === 'symbol' && /^[A-Z]$/.test(item.name))
}

function uses(node: Node, name: Node): boolean {
  return name.kind === 'symbol' && some(node, (n) => n.kind === 'symbol' && n.name === name.name)
}

/** x > 5, −2 ≤ x < 7 and x ∈ S as sets; `undefined` for relations that are not about one quantity. */
export function setOf(node: RelationNode, scalars: Scalars): Node | undefined {
  const { ops, items } = node
  if (ops.length === 1 && ops[0] === 'in' && isName(items[0]!)) return items[1]
  if (ops.length !== items.length - 1 || !ops.every((op) => /^[<>]=?$/.test(op))) return undefined
  const fixed = items.map((item) => scalars.constant(item) !== undefined)
  const infinity: Node = { kind: 'constant', name: 'infinity' }
  const minus: Node = { kind: 'negate', item: infinity }
  if (items.length === 2 && fixed[0] !== fixed[1]) {
    const [quantity, limit] = fixed[1] ? [items[0]!, items[1]!] : [items[1]!, items[0]!]
    if (!isName(quantity)) return undefined
    const above = ops[0]!.startsWith('>') === fixed[1]
    const closed = ops[0]!.endsWith('=')
    return above
      ? sequence(closed ? '[' : '(', [limit, infinity], ')')
      : sequence('(', [minus, limit], closed ? ']' : ')')
  }
  if (items.length !== 3 || !fixed[0] || fixed[1] || !fixed[2] || !isName(items[1]!)) return undefined
  const rising = ops.every((op) => op.startsWith('<'))
  if (!rising && !ops.every((op) => op.startsWith('>'))) return undefined
  const [low, high] = rising ? [0, 1] : [1, 0]
  return sequence(
    ops[low]!.endsWith('=') ? '[' : '(',
    [items[rising ? 0 : 2]!, items[rising ? 2 : 0]!],
    ops[high]!.endsWith('=') ? ']' : ')',
  )
}

/** Both values of an expression with ±: all signs go the same way. */
export function bothSigns(node: Node): [Node, Node] | undefined {
  if (!some(node, (n) => n.kind === 'plusminus')) return undefined
  return [resolve(node, 1), resolve(node, -1)]
}

function resolve(node: Node, sign: 1 | -1): Node {
  if (node.kind !== 'plusminus') return mapChildren(node, (child) => resolve(child, sign))
  const item = resolve(node.item, sign)
  return node.sign === sign ? item : { kind: 'negate', item }
}
