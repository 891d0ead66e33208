import type { ScoreKind } from './loss.js'
import type { NodeList } from './nodes.js'

/**
 * Reverse mode, as more nodes: appends d(loss)/d(score) for every score that the loss depends on.
 *
 * The adjoint of a token value is a token value or a scalar (equal for all tokens), that of a row value a row value or
 * a scalar. Sums and broadcasts are each other's derivatives. At kinks: `clamp` passes the gradient at its bounds,
 * `min` and `max` give it to the first operand on a tie, the greatest tokens of a row share it, `abs` has slope 0 at 0.
 */
export function differentiate(list: NodeList, loss: number): Map<ScoreKind, number> {
  const depends = dependsOnScores(list, loss)
  const adjoints = new Map<number, number>([[loss, list.constant(1)]])
  const grads = new Map<ScoreKind, number>()

  for (let at = loss; at >= 0; at--) {
    const g = adjoints.get(at)
    if (g === undefined || !depends[at]) continue
    const node = list.nodes[at]
    if (node.op === 'score') {
      grads.set(node.name as ScoreKind, g)
      continue
    }
    const parts = adjointParts(list, at, g)
    node.in!.forEach((operand, k) => {
      const part = parts[k]
      if (part === undefined || !depends[operand]) return
      const fitted = spreadBack(list, part, list.types[at].shape, list.types[operand].shape)
      const sofar = adjoints.get(operand)
      adjoints.set(operand, sofar === undefined ? fitted : list.add('add', [sofar, fitted]))
    })
  }
  return grads
}

/** Which nodes a gradient can reach: those with a score below them and no `detach` between. */
function dependsOnScores(list: NodeList, last: number): boolean[] {
  const depends: boolean[] = []
  for (let i = 0; i <= last; i++) {
    const node = list.nodes[i]
    depends.push(
      node.op === 'score' || (node.op !== 'detach' && !list.types[i].bool && (node.in ?? []).some((k) => depends[k])),
    )
  }
  return depends
}

/** What each operand of a node receives; undefined = nothing. */
function adjointParts(list: NodeList, at: number, g: number): (number | undefined)[] {
  const { op, in: operands = [] } = list.nodes[at]
  const [a, b] = operands
  const add = (...args: Parameters<NodeList['add']>) => list.add(...args)
  const zero = list.constant(0)
  const neg = (x: number) => add('neg', [x])
  switch (op) {
    case 'add':
      return [g, g]
    case 'sub':
      return [g, neg(g)]
    case 'neg':
      return [neg(g)]
    case 'mul':
      return [add('gmul', [g, b]), add('gmul', [g, a])]
    case 'div':
      return [add('gdiv', [g, b]), neg(add('gdiv', [add('gmul', [g, at]), b]))]
    case 'exp':
      return [add('gmul', [g, at])]
    case 'log':
      return [add('gdiv', [g, a])]
    case 'sqrt':
      return [add('gdiv', [add('mul', [g, list.constant(0.5)]), at])]
    case 'pow': {
      const power = list.nodes[b].value!
      if (power === 0) return []
      return [add('gmul', [g, add('mul', [b, add('pow', [a, list.constant(power - 1)])])])]
    }
    case 'abs':
      return [add('where', [add('gt', [a, zero]), g, add('where', [add('lt', [a, zero]), neg(g), zero])])]
    case 'sigmoid':
      return [add('gmul', [g, add('mul', [at, add('sub', [list.constant(1), at])])])]
    case 'logSigmoid':
      return [add('gmul', [g, add('sigmoid', [neg(a)])])]
    case 'logAddExp':
      return [
        add('gmul', [g, add('sigmoid', [add('sub', [a, b])])]),
        add('gmul', [g, add('sigmoid', [add('sub', [b, a])])]),
      ]
    case 'min':
    case 'max': {
      const first = add(op === 'min' ? 'le' : 'ge', [a, b])
      return [add('where', [first, g, zero]), add('where', [first, zero, g])]
    }
    case 'clamp': {
      const inside = add('and', [add('ge', [a, operands[1]]), add('le', [a, operands[2]])])
      return [add('where', [inside, g, zero])]
    }
    case 'where':
      return [undefined, add('where', [a, g, zero]), add('where', [a, zero, g])]
    case 'rowSum':
      return [list.types[g].shape === 'row' ? add('toTokens', [g]) : g]
    case 'rowMax': {
      const isTop = add('eq', [a, add('toTokens', [at])])
      const ties = add('rowSum', [add('where', [isTop, list.constant(1), zero])])
      return [add('where', [isTop, add('toTokens', [add('gdiv', [g, ties])]), zero])]
    }
    case 'groupSum':
      return [add('groupSum', [everywhere(list, g, 'row')])]
    case 'groupMax': {
      const isTop = add('eq', [a, at])
      const ties = add('groupSum', [add('where', [isTop, list.constant(1), zero])])
      const whole = add('groupSum', [everywhere(list, g, 'row')])
      return [add('where', [isTop, add('gdiv', [whole, ties]), zero])]
    }
    case 'cumSum': {
      // What comes later in the order has taken it in: all, less what comes before, and itself.
      const own = everywhere(list, g, list.types[at].shape)
      return [add('add', [add('sub', [add('total', [own]), add('cumSum', [own, b])]), own])]
    }
    case 'total':
      return [g]
    case 'toTokens':
      return [sumOver(list, g, 'token', 'row')]
    case 'bundleSum':
      return [add('bundleSum', [everywhere(list, g, 'row')])]
    default:
      return []
  }
}

type Shape = NodeList['types'][number]['shape']

/** An element-wise operation spreads a scalar operand over tokens or rows, so its adjoint is summed up again. */
function spreadBack(list: NodeList, g: number, from: Shape, to: Shape): number {
  const scalarOperand = to === 'scalar' && from !== 'scalar'
  return scalarOperand ? sumOver(list, g, from, 'scalar') : g
}

/** Sums an adjoint that belongs to `from` values; one that is equal everywhere is multiplied by how many there are. */
function sumOver(list: NodeList, g: number, from: Shape, to: 'row' | 'scalar'): number {
  if (list.types[g].shape === from) return list.add(to === 'row' ? 'rowSum' : 'total', [g])
  const perRow = from === 'token' ? list.add('count') : rowOnes(list)
  return list.add('gmul', [g, to === 'row' ? perRow : list.add('total', [perRow])])
}

/** An adjoint as values of that shape, also where it is one number for all. */
function everywhere(list: NodeList, g: number, shape: Shape): number {
  if (list.types[g].shape === shape) return g
  const ones = rowOnes(list)
  return list.add('mul', [g, shape === 'row' ? ones : list.add('toTokens', [ones])])
}

/** 1 for every row. */
export function rowOnes(list: NodeList): number {
  const count = list.add('count')
  return list.add('where', [list.add('ge', [count, list.constant(0)]), list.constant(1), list.constant(0)])
}
