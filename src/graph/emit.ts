import type { NodeList } from './nodes.js'
import { mapOp, orderOp } from './ops.js'

/** When a node is known: `sweep` = after how many passes over all rows, `pass` = after how many loops over one row. */
export interface Position {
  readonly sweep: number
  readonly pass: number
}

/** What a program must leave behind: numbers in `result`, token vectors in `outs`, in the given order. */
export interface Outputs {
  readonly scalars: readonly number[]
  readonly tokens: readonly number[]
}

/** How the generated code finds its inputs: the index of a name in the list is the index in the argument. */
export interface Layout {
  readonly tokenColumns: string[]
  readonly rowColumns: string[]
  readonly scores: string[]
  readonly norms: string[]
  /** Whether it reads `groups`, and `active`. */
  grouped: boolean
  ordered: boolean
}

const isTotal = (op: string) => op === 'total' || op === 'totalMax' || op === 'totalMin'
const isOfRow = (op: string) => op === 'rowSum' || op === 'rowMax'
const isOrder = (op: string) => orderOp(op) !== undefined
/** Over the rows of a bundle or a group. */
const isOfRows = (op: string) => op === 'bundleSum' || op === 'groupSum' || op === 'groupMax'
const isReduction = (op: string) => isOfRow(op) || isOfRows(op) || isTotal(op) || isOrder(op)

/**
 * Writes a graph as JavaScript loops: one loop over the active tokens of a row does everything that is known by then,
 * so no intermediate vector is ever stored. A value that is needed again after a sum is computed again.
 *
 * Nothing of the graph's text gets into the code: names become indices, constants are finite numbers, and operations
 * come from the table. That is what makes it safe for graphs that nobody vouches for.
 */
export class Emitter {
  readonly layout: Layout = { tokenColumns: [], rowColumns: [], scores: [], norms: [], grouped: false, ordered: false }
  readonly #list: NodeList
  readonly #outputs: Outputs
  readonly #positions: Position[]
  readonly #needed: Set<number>
  readonly #declared = new Set<number>()
  readonly #head: string[] = []
  /** Row sums that a later sweep reads again; the others need no array. */
  readonly #stored = new Set<number>()

  constructor(list: NodeList, outputs: Outputs) {
    this.#list = list
    this.#outputs = outputs
    this.#positions = positionsOf(list)
    this.#needed = reach(list, [...outputs.scalars, ...outputs.tokens])
  }

  /** Body of a function of `a`, the arguments (see `ProgramArgs`). */
  emit(): string {
    const reductions = [...this.#needed].filter((i) => isReduction(this.#list.nodes[i].op)).sort((a, b) => a - b)
    const last = Math.max(0, ...[...this.#needed].map((i) => this.#positions[i].sweep))
    const sweeps: string[] = []
    for (let sweep = 0; sweep <= last; sweep++) sweeps.push(...this.#sweep(sweep, reductions))
    const unused = new Set(reductions.filter((i) => !this.#stored.has(i)).flatMap((i) => [makeStore(i), fillStore(i)]))
    const results = this.#outputs.scalars.map((node, k) => `result[${k}] = ${this.#scalar(node)}`)
    return [
      "'use strict'",
      ...(this.layout.ordered ? ['const size = a.masks.reduce((sum, mask) => sum + mask.length, 0)'] : []),
      'const { rows, offsets, masks, counts, bundles, groups, active, tokens, columns, scores, norms, outs, result } = a',
      ...this.layout.scores.map((_, k) => `const score${k} = scores[${k}]`),
      ...this.#outputs.tokens.map((_, k) => `const out${k} = outs[${k}]`),
      ...sweeps.filter((line) => !unused.has(line)),
      ...this.#head.splice(0),
      ...results,
    ].join('\n')
  }

  #sweep(sweep: number, reductions: readonly number[]): string[] {
    const here = (node: number) => this.#positions[node].sweep === sweep
    const operand = (node: number) => this.#list.nodes[node].in![0]
    const ready = (node: number) => this.#list.nodes[node].in!.map((i) => this.#positions[i]).reduce(later)
    const found = reductions.filter((node) => ready(node).sweep === sweep)
    const [orders, sums] = [
      found.filter((node) => isOrder(this.#list.nodes[node].op)),
      found.filter((node) => !isOrder(this.#list.nodes[node].op)),
    ]
    const outs = this.#outputs.tokens.flatMap((node, k) => (here(node) ? [{ node, k }] : []))
    const passOf = (node: number) => this.#positions[node].pass
    const passes = [...found.map((node) => ready(node).pass), ...outs.map(({ node }) => passOf(node))]
    const row = new RowScope()
    for (const sum of sums) this.#declareSum(sum)
    for (let pass = 0; pass <= Math.max(-1, ...passes); pass++) {
      const inPass = sums.filter((node) => passOf(operand(node)) === pass)
      const ofTokens = inPass.filter((node) => this.#list.types[operand(node)].shape === 'token')
      const loop = new TokenScope()
      for (const node of orders.filter((i) => ready(i).pass === pass)) this.#keep(node, loop, row, sweep)
      for (const node of ofTokens)
        loop.text.push(accumulate(this.#list.nodes[node].op, node, this.#token(operand(node), loop, row, sweep)))
      for (const { node, k } of outs) {
        if (passOf(node) === pass) loop.text.push(`out${k}[o + i] = ${this.#token(node, loop, row, sweep)}`)
      }
      if (loop.text.length > 0) {
        for (const node of ofTokens) row.text.push(`let s${node} = ${START[this.#list.nodes[node].op]}`)
        row.text.push('for (let i = 0; i < m.length; i++) {', 'if (m[i] === 0) continue', ...loop.text, '}')
      }
      for (const node of ofTokens) {
        const { op } = this.#list.nodes[node]
        if (isTotal(op)) row.text.push(op === 'total' ? `n${node} += s${node}` : accumulate(op, node, `s${node}`, 'n'))
        else {
          if (op === 'rowMax') row.text.push(`if (counts[r] === 0) s${node} = 0`)
          row.text.push(fillStore(node))
        }
      }
      for (const node of inPass.filter((i) => !ofTokens.includes(i))) {
        let value = ''
        for (const part of this.#below(operand(node))) value = this.#row(part, row, sweep)
        const { op } = this.#list.nodes[node]
        if (op !== 'bundleSum' && isOfRows(op)) this.layout.grouped = true
        row.text.push(isOfRows(op) ? gather(op, node, value) : accumulate(op, node, value, 'n'))
      }
    }
    if (row.text.length === 0) return []
    const before = this.#head.splice(0)
    const loop = ['for (let r = 0; r < rows; r++) {', 'const m = masks[r], o = offsets[r]', ...row.text, '}']
    return [...before, ...loop, ...orders.map((node) => this.#order(node))]
  }

  /** Keeps the operands of an operation that looks at the order of all of them. */
  #keep(node: number, loop: TokenScope, row: RowScope, sweep: number): void {
    const { in: operands = [] } = this.#list.nodes[node]
    const ofTokens = this.#list.types[node].shape === 'token'
    for (const [k, operand] of operands.entries()) {
      const size = ofTokens ? 'size' : 'rows'
      this.#head.push(`const kept${node}_${k} = new Float64Array(${size})`)
      if (ofTokens) {
        this.layout.ordered = true
        loop.text.push(`kept${node}_${k}[o + i] = ${this.#token(operand, loop, row, sweep)}`)
      } else {
        let value = ''
        for (const part of this.#below(operand)) value = this.#row(part, row, sweep)
        row.text.push(`kept${node}_${k}[r] = ${value}`)
      }
    }
  }

  #order(node: number): string {
    const { op } = this.#list.nodes[node]
    const places = this.#list.types[node].shape === 'token' ? 'active' : 'all(rows)'
    const call = op === 'rank' ? `ranks(kept${node}_0, ${places})` : `sumsUpTo(kept${node}_0, kept${node}_1, ${places})`
    return `const order${node} = ${call}`
  }

  #declareSum(node: number): void {
    const { op } = this.#list.nodes[node]
    if (isTotal(op)) this.#head.push(`let n${node} = ${START[op]}`)
    else this.#head.push(op === 'groupMax' ? `${makeStore(node)}.fill(-Infinity)` : makeStore(node))
  }

  /** Name or literal of a scalar; its definition goes before the loops. */
  #scalar(target: number): string {
    let name = ''
    for (const node of this.#below(target)) name = this.#defineScalar(node)
    return name
  }

  #defineScalar(node: number): string {
    const { op, value, name, in: operands = [] } = this.#list.nodes[node]
    if (op === 'const') return value! < 0 || Object.is(value, -0) ? `(${value})` : `${value}`
    if (isTotal(op)) return `n${node}`
    if (!this.#declared.has(node)) {
      const code =
        op === 'norm'
          ? `norms[${indexIn(this.layout.norms, name!)}]`
          : mapOp(op)!.js(...operands.map((i) => this.#defineScalar(i)))
      this.#head.push(`const n${node} = ${code}`)
      this.#declared.add(node)
    }
    return `n${node}`
  }

  #row(node: number, row: RowScope, sweep: number): string {
    if (this.#list.types[node].shape === 'scalar') return this.#scalar(node)
    if (isOfRow(this.#list.nodes[node].op) && this.#positions[node].sweep === sweep) return `s${node}`
    if (!row.known.has(node)) {
      row.known.add(node)
      row.text.push(`const n${node} = ${this.#rowCode(node, row, sweep)}`)
    }
    return `n${node}`
  }

  #rowCode(node: number, row: RowScope, sweep: number): string {
    const { op, name, in: operands = [] } = this.#list.nodes[node]
    if (isOrder(op)) return `order${node}[r]`
    if (isOfRow(op) || isOfRows(op)) this.#stored.add(node)
    if (isOfRow(op)) return `store${node}[r]`
    if (isOfRows(op)) return placeOf(op, node)
    if (op === 'count') return 'counts[r]'
    if (op === 'column') return `columns[${indexIn(this.layout.rowColumns, name!)}][r]`
    return mapOp(op)!.js(...operands.map((i) => this.#row(i, row, sweep)))
  }

  /** Name of a value inside the loop over tokens, defined with everything it is made of. */
  #token(target: number, loop: TokenScope, row: RowScope, sweep: number): string {
    // In the order of the list, so that operands are always there and long formulas need no deep recursion.
    let name = ''
    for (const node of this.#below(target)) name = this.#define(node, loop, row, sweep)
    return name
  }

  #define(node: number, loop: TokenScope, row: RowScope, sweep: number): string {
    if (this.#list.types[node].shape !== 'token') return this.#row(node, row, sweep)
    const { op, name, in: operands = [] } = this.#list.nodes[node]
    if (op === 'toTokens') return this.#row(operands[0], row, sweep)
    if (!loop.known.has(node)) {
      let code: string
      if (isOrder(op)) code = `order${node}[o + i]`
      else if (op === 'score') code = `score${indexIn(this.layout.scores, name!)}[o + i]`
      else if (op === 'column') {
        const k = indexIn(this.layout.tokenColumns, name!)
        if (!row.columns.has(k)) row.text.push(`const t${k} = tokens[${k}][r]`)
        row.columns.add(k)
        code = `t${k}[i]`
      } else code = mapOp(op)!.js(...operands.map((i) => this.#define(i, loop, row, sweep)))
      loop.text.push(`const n${node} = ${code}`)
      loop.known.add(node)
    }
    return `n${node}`
  }

  /** A node and what it is made of, down to sums, in the order of the list. */
  #below(target: number): number[] {
    const nodes = reach(this.#list, [target], (node) => isReduction(this.#list.nodes[node].op))
    return [...nodes].sort((a, b) => a - b)
  }
}

/** Everything declared inside the loop over rows. */
class RowScope {
  readonly text: string[] = []
  readonly known = new Set<number>()
  readonly columns = new Set<number>()
}

class TokenScope {
  readonly text: string[] = []
  readonly known = new Set<number>()
}

const makeStore = (node: number) => `const store${node} = new Float64Array(rows)`
const fillStore = (node: number) => `store${node}[r] = s${node}`

/** The place of a row's bundle or group. */
const placeOf = (op: string, node: number) => `store${node}[${op === 'bundleSum' ? 'bundles' : 'groups'}[r]]`

function gather(op: string, node: number, value: string): string {
  const place = placeOf(op, node)
  // A NaN that takes part must show.
  return op === 'groupMax'
    ? `if (${value} > ${place} || ${value} !== ${value}) ${place} = ${value}`
    : `${place} += ${value}`
}

const START: Record<string, string> = {
  rowSum: '0',
  rowMax: '-Infinity',
  total: '0',
  totalMax: '-Infinity',
  totalMin: 'Infinity',
}

function accumulate(op: string, node: number, value: string, into: 's' | 'n' = 's'): string {
  // A NaN that takes part must show.
  if (op === 'rowMax') return `if (${value} > ${into}${node} || ${value} !== ${value}) ${into}${node} = ${value}`
  if (op === 'totalMax') return `if (${value} > ${into}${node}) ${into}${node} = ${value}`
  if (op === 'totalMin') return `if (${value} < ${into}${node}) ${into}${node} = ${value}`
  return `${into}${node} += ${value}`
}

function positionsOf(list: NodeList): Position[] {
  const positions: Position[] = []
  for (const { op, in: operands = [] } of list.nodes) {
    const at = operands.map((i) => positions[i]).reduce(later, { sweep: 0, pass: 0 })
    if (isOfRow(op)) positions.push({ sweep: at.sweep, pass: at.pass + 1 })
    else if (isReduction(op)) positions.push({ sweep: at.sweep + 1, pass: 0 })
    else positions.push(at)
  }
  return positions
}

function later(a: Position, b: Position): Position {
  return a.sweep > b.sweep || (a.sweep === b.sweep && a.pass >= b.pass) ? a : b
}

/** Nodes that others are made of; what is below a node where `stop` holds is left out. */
export function reach(
  list: NodeList,
  from: readonly number[],
  stop: (node: number) => boolean = () => false,
): Set<number> {
  const seen = new Set<number>()
  const open = [...from]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue
    seen.add(node)
    if (!stop(node)) open.push(...(list.nodes[node].in ?? []))
  }
  return seen
}

function indexIn(names: string[], name: string): number {
  const at = names.indexOf(name)
  return at >= 0 ? at : names.push(name) - 1
}
