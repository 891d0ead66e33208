import type { Node } from './node.js'
import type { Scalars } from './scalar.js'

interface Bound {
  node: Node
  value: number
  closed: boolean
}

interface Piece {
  low: Bound
  high: Bound
}

const INFINITY: Node = { kind: 'constant', name: 'infinity' }
const bound = (value: number, node: Node, closed: boolean): Bound => ({ value, node, closed })
const LINE: Piece = {
  low: bound(Number.NEGATIVE_INFINITY, { kind: 'negate', item: INFINITY }, false),
  high: bound(Number.POSITIVE_INFINITY, INFINITY, false),
}

/** Sets of real numbers as sorted pieces that do not touch; `undefined` for anything else. */
export function realSet(node: Node, scalars: Scalars): Piece[] | undefined {
  if (node.kind === 'named') return node.name === 'reals' ? [LINE] : node.name === 'empty' ? [] : undefined
  if (node.kind === 'sequence') {
    if (node.open === '{') return points(node.items, scalars)
    if (node.open === '' || node.items.length !== 2) return undefined
    const low = edge(node.items[0]!, node.open === '[', scalars)
    const high = edge(node.items[1]!, node.close === ']', scalars)
    if (!low || !high || low.value > high.value) return undefined
    return [{ low, high }]
  }
  if (node.kind !== 'setop' || node.op === 'intersection') return undefined
  const parts = node.items.map((item) => realSet(item, scalars))
  if (node.op === 'union') return parts.every((part) => part !== undefined) ? merged(parts.flat()) : undefined
  const [whole, removed] = parts
  return whole && removed?.every(isPoint) ? without(merged(whole), removed) : undefined
}

function edge(node: Node, closed: boolean, scalars: Scalars): Bound | undefined {
  const value = scalars.constant(node)
  return value === undefined ? undefined : bound(value, node, closed && Number.isFinite(value))
}

function points(items: readonly Node[], scalars: Scalars): Piece[] | undefined {
  const pieces: Piece[] = []
  for (const item of items) {
    const at = edge(item, true, scalars)
    if (at === undefined) return undefined
    pieces.push({ low: at, high: at })
  }
  return merged(pieces)
}

const isPoint = (piece: Piece) => piece.low.value === piece.high.value
const near = (a: number, b: number) =>
  a === b || (Number.isFinite(a - b) && Math.abs(a - b) <= 1e-13 * Math.max(1, Math.abs(a), Math.abs(b)))

function merged(pieces: Piece[]): Piece[] {
  const sorted = [...pieces].sort((a, b) => a.low.value - b.low.value || Number(b.low.closed) - Number(a.low.closed))
  const result: Piece[] = []
  for (const piece of sorted) {
    const last = result[result.length - 1]
    const touches =
      last !== undefined &&
      (near(last.high.value, piece.low.value)
        ? last.high.closed || piece.low.closed
        : last.high.value > piece.low.value)
    if (!last || !touches) {
      result.push({ ...piece })
      continue
    }
    // {0} ∪ (0, 1]: the point closes the open end that it touches.
    if (near(last.low.value, piece.low.value) && piece.low.closed) last.low = piece.low
    const further = near(last.high.value, piece.high.value)
      ? piece.high.closed && !last.high.closed
      : piece.high.value > last.high.value
    if (further) last.high = piece.high
  }
  return result
}

function without(pieces: Piece[], removed: Piece[]): Piece[] {
  let result = pieces
  for (const { low: at } of removed) {
    result = result.flatMap((piece) => {
      const open = bound(at.value, at.node, false)
      const atLow = near(piece.low.value, at.value)
      const atHigh = near(piece.high.value, at.value)
      if (atLow && atHigh) return []
      if (atLow) return [{ low: open, high: piece.high }]
      if (atHigh) return [{ low: piece.low, high: open }]
      if (at.value < piece.low.value || at.value > piece.high.value) return [piece]
      return [
        { low: piece.low, high: open },
        { low: open, high: piece.high },
      ]
    })
  }
  return result
}

export function sameRealSet(a: Piece[], b: Piece[], scalars: Scalars): boolean {
  return a.length === b.length && a.every((p, k) => sameBound(p.low, b[k]!.low) && sameBound(p.high, b[k]!.high))

  function sameBound(p: Bound, q: Bound): boolean {
    return p.closed === q.closed && scalars.equal(p.node, q.node)
  }
}
