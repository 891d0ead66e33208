import type { Rational } from './rational.js'

/** What an answer says, as a tree. */
export type Node =
  | NumberNode
  | SymbolNode
  | { kind: 'constant'; name: ConstantName }
  | { kind: 'add' | 'multiply'; items: Node[] }
  | { kind: 'divide' | 'power'; left: Node; right: Node }
  | { kind: 'negate'; item: Node }
  /** ± (sign 1) or ∓ (sign −1) of an item. */
  | { kind: 'plusminus'; item: Node; sign: 1 | -1 }
  | { kind: 'call'; name: string; items: Node[] }
  | SequenceNode
  | RelationNode
  | { kind: 'setop'; op: 'union' | 'intersection' | 'minus'; items: Node[] }
  | { kind: 'matrix'; rows: Node[][] }
  | { kind: 'ratio'; items: Node[] }
  /** A number written in a base: 1101_2. */
  | { kind: 'based'; digits: string; base: number }
  | { kind: 'named'; name: 'reals' | 'integers' | 'naturals' | 'rationals' | 'complex' | 'empty' }
  | { kind: 'text'; text: string }

export interface SymbolNode {
  kind: 'symbol'
  name: string
  /** A unit or a thing counted: it may be left out on one side. */
  unit?: boolean
  /** How many of the base unit `name` it is. */
  factor?: Rational
}

export interface NumberNode {
  kind: 'number'
  value: Rational
  /** Digits after the point, when it was written with one. */
  decimals?: number
  /** Significant digits, when it was written with a point. */
  significant?: number
}

/** open '' is a bare list; '(' ')' a tuple or open interval; '{' a set. */
export interface SequenceNode {
  kind: 'sequence'
  open: '' | '(' | '[' | '{'
  close: '' | ')' | ']' | '}'
  items: Node[]
}

export type Relation = '=' | '<' | '>' | '<=' | '>=' | '!=' | '~' | 'in'

/** a = b = c, −1 ≤ x < 2. `~` is ≈. */
export interface RelationNode {
  kind: 'relation'
  ops: Relation[]
  items: Node[]
}

export type ConstantName = 'pi' | 'e' | 'i' | 'infinity' | 'degree' | 'percent'

export function sequence(open: SequenceNode['open'], items: Node[], close: SequenceNode['close']): SequenceNode {
  return { kind: 'sequence', open, items, close }
}

export function whole(value: number): NumberNode {
  return { kind: 'number', value: { n: BigInt(value), d: 1n } }
}

export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'add':
    case 'multiply':
    case 'call':
    case 'sequence':
    case 'relation':
    case 'setop':
    case 'ratio':
      return node.items
    case 'divide':
    case 'power':
      return [node.left, node.right]
    case 'negate':
    case 'plusminus':
      return [node.item]
    case 'matrix':
      return node.rows.flat()
    default:
      return []
  }
}

export function mapChildren(node: Node, map: (child: Node) => Node): Node {
  switch (node.kind) {
    case 'add':
    case 'multiply':
    case 'call':
    case 'sequence':
    case 'relation':
    case 'setop':
    case 'ratio':
      return { ...node, items: node.items.map(map) }
    case 'divide':
    case 'power':
      return { ...node, left: map(node.left), right: map(node.right) }
    case 'negate':
    case 'plusminus':
      return { ...node, item: map(node.item) }
    case 'matrix':
      return { ...node, rows: node.rows.map((row) => row.map(map)) }
    default:
      return node
  }
}

export function some(node: Node, test: (node: Node) => boolean): boolean {
  return test(node) || children(node).some((child) => some(child, test))
}

/** A value that can be computed: neither a structure nor a word. */
export function isScalar(node: Node): boolean {
  return SCALAR.has(node.kind)
}

const SCALAR = new Set([
  'number',
  'symbol',
  'constant',
  'add',
  'multiply',
  'divide',
  'power',
  'negate',
  'call',
  'based',
])
