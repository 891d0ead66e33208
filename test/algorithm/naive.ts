import type { LossGraph, LossRow, TokenScores } from '../../src/graph/index.js'

type Values = Map<string, number>
type Truth = number | boolean

export type Naive = (node: number, r?: number, i?: number) => number

/**
 * The graph evaluated as its documentation says, one token at a time and with no thought of speed. It shares no code
 * with the compiler and is what the compiler is checked against. What is detached is taken from `frozen` if given, so
 * that finite differences do not see it move.
 */
export function naiveLoss(
  graph: LossGraph,
  rows: readonly LossRow[],
  norms: Record<string, number>,
  scores: TokenScores,
  frozen?: Naive,
): Naive {
  const memo: Values[] = graph.nodes.map(() => new Map())
  const starts: number[] = []
  rows.reduce((at, row) => {
    starts.push(at)
    return at + row.mask.length
  }, 0)
  const active = (r: number) => [...rows[r].mask.keys()].filter((i) => rows[r].mask[i] !== 0)
  const shape = (node: number): 'token' | 'row' | 'scalar' => {
    const { op, shape: own, in: operands = [] } = graph.nodes[node]
    if (op === 'column') return own!
    if (op === 'score' || op === 'toTokens') return 'token'
    if (['count', 'rowSum', 'rowMax', 'bundleSum', 'groupSum', 'groupMax'].includes(op)) return 'row'
    if (op === 'total') return 'scalar'
    const shapes = operands.map(shape)
    return shapes.includes('token') ? 'token' : shapes.includes('row') ? 'row' : 'scalar'
  }
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)

  function value(node: number, r: number, i: number): Truth {
    const kind = shape(node)
    const key = kind === 'token' ? `${r}.${i}` : kind === 'row' ? `${r}` : ''
    const known = memo[node].get(key)
    if (known !== undefined) return known
    const found = compute(node, r, i)
    memo[node].set(key, found as number)
    return found
  }

  /** Places of all values of a node. */
  const everywhere = (node: number): [number, number][] =>
    rows.flatMap((_, k): [number, number][] => (shape(node) === 'row' ? [[k, 0]] : active(k).map((t) => [k, t])))

  /** Places whose value is greater, or equal and earlier. Ranks do not move when finite differences are taken. */
  function before(node: number, r: number, i: number): [number, number][] {
    const at = (k: number, t: number) => (frozen ? frozen(node, k, t) : (value(node, k, t) as number))
    const [own, place] = [at(r, i), shape(node) === 'row' ? 0 : i]
    const isEarlier = (k: number, t: number) => k < r || (k === r && t < place)
    return everywhere(node).filter(([k, t]) => at(k, t) > own || (at(k, t) === own && isEarlier(k, t)))
  }

  function compute(node: number, r: number, i: number): Truth {
    const { op, in: operands = [], value: constant, name } = graph.nodes[node]
    const num = (k: number) => value(operands[k], r, i) as number
    switch (op) {
      case 'const':
        return constant!
      case 'norm':
        return norms[name!]
      case 'score':
        return scores[name as 'logprob']![starts[r] + i]
      case 'column': {
        const column = rows[r].columns[name!]
        return typeof column === 'number' ? column : column[i]
      }
      case 'count':
        return active(r).length
      case 'rowSum':
        return sum(active(r).map((t) => value(operands[0], r, t) as number))
      case 'rowMax':
        return active(r).length === 0 ? 0 : Math.max(...active(r).map((t) => value(operands[0], r, t) as number))
      case 'bundleSum': {
        const same = rows.flatMap((row, k) =>
          k === r || (row.bundle !== undefined && row.bundle === rows[r].bundle) ? [k] : [],
        )
        return sum(same.map((k) => value(operands[0], k, 0) as number))
      }
      case 'groupSum':
      case 'groupMax': {
        const { group } = rows[r]
        const same = rows.flatMap((row, k) => (k === r || (group !== undefined && row.group === group) ? [k] : []))
        const values = same.map((k) => value(operands[0], k, 0) as number)
        return op === 'groupMax' ? Math.max(...values) : sum(values)
      }
      case 'rank':
        return before(operands[0], r, i).length
      case 'cumSum': {
        const above = before(operands[1], r, i)
        const rest = everywhere(operands[0]).filter(([k, t]) => !above.some(([a, b]) => a === k && b === t))
        return sum(rest.map(([k, t]) => value(operands[0], k, t) as number))
      }
      case 'total':
        return shape(operands[0]) === 'row'
          ? sum(rows.map((_, k) => value(operands[0], k, 0) as number))
          : sum(rows.flatMap((_, k) => active(k).map((t) => value(operands[0], k, t) as number)))
      case 'where':
        return value(operands[0], r, i) ? num(1) : num(2)
      case 'and':
        return Boolean(value(operands[0], r, i)) && Boolean(value(operands[1], r, i))
      case 'or':
        return Boolean(value(operands[0], r, i)) || Boolean(value(operands[1], r, i))
      case 'not':
        return !value(operands[0], r, i)
      case 'toTokens':
        return value(operands[0], r, i)
      case 'detach':
        return frozen ? frozen(operands[0], r, i) : value(operands[0], r, i)
      default:
        return elementary(
          op,
          operands.map((_, k) => num(k)),
        )
    }
  }
  return (node: number, r = 0, i = 0) => value(node, r, i) as number
}

function elementary(op: string, [a, b, c]: number[]): Truth {
  const table: Record<string, () => Truth> = {
    add: () => a + b,
    sub: () => a - b,
    mul: () => a * b,
    div: () => a / b,
    neg: () => -a,
    exp: () => Math.exp(a),
    log: () => Math.log(a),
    abs: () => Math.abs(a),
    sqrt: () => Math.sqrt(a),
    sign: () => Math.sign(a),
    pow: () => a ** b,
    sigmoid: () => 1 / (1 + Math.exp(-a)),
    logSigmoid: () => -Math.log(1 + Math.exp(-a)),
    logAddExp: () => Math.log(Math.exp(a) + Math.exp(b)),
    min: () => Math.min(a, b),
    max: () => Math.max(a, b),
    clamp: () => Math.min(Math.max(a, b), c),
    lt: () => a < b,
    le: () => a <= b,
    gt: () => a > b,
    ge: () => a >= b,
    eq: () => a === b,
  }
  return table[op]()
}
