import type { GraphNode } from './graph.js'
import type { NodeType, ProgramOp } from './ops.js'
import { nodeType } from './validate.js'

/** A node of a program under construction: the format's operations and those that only the compiler makes. */
export type ProgramNode = Omit<GraphNode, 'op'> & { readonly op: ProgramOp }

/** A growing list of nodes. Equal nodes are one node, and arithmetic on constants is done at once. */
export class NodeList {
  readonly nodes: ProgramNode[] = []
  readonly types: NodeType[] = []
  readonly #known = new Map<string, number>()

  constructor(nodes: readonly ProgramNode[] = []) {
    for (const node of nodes) this.#append(node)
  }

  /** Index of the node, which is made unless there is an equal one. */
  add(op: ProgramOp, operands: readonly number[] = [], rest: Omit<ProgramNode, 'op' | 'in'> = {}): number {
    const simpler = this.#simplify(op, operands)
    if (simpler !== undefined) return simpler
    const node: ProgramNode = operands.length > 0 ? { op, in: operands, ...rest } : { op, ...rest }
    return this.#known.get(keyOf(node)) ?? this.#append(node)
  }

  constant(value: number): number {
    return this.add('const', [], { value })
  }

  #append(node: ProgramNode): number {
    this.types.push(nodeType(node, this.nodes, this.types, `nodes[${this.nodes.length}]`))
    this.#known.set(keyOf(node), this.nodes.length)
    return this.nodes.push(node) - 1
  }

  #valueOf(index: number | undefined): number | undefined {
    return index === undefined ? undefined : this.nodes[index]?.value
  }

  #simplify(op: ProgramOp, operands: readonly number[]): number | undefined {
    const [a, b, c] = operands
    const [x, y] = [this.#valueOf(a), this.#valueOf(b)]
    const folded = x === undefined ? undefined : op === 'neg' ? -x : y === undefined ? undefined : fold(op, x, y)
    if (folded !== undefined && Number.isFinite(folded)) return this.constant(folded)
    switch (op) {
      case 'add':
        return x === 0 ? this.#keep(b) : y === 0 ? this.#keep(a) : undefined
      case 'sub':
        return y === 0 ? this.#keep(a) : x === 0 ? this.add('neg', [b]) : undefined
      case 'mul':
        return x === 1 ? this.#keep(b) : y === 1 ? this.#keep(a) : undefined
      case 'div':
        return y === 1 ? this.#keep(a) : undefined
      case 'neg':
        return this.nodes[a]?.op === 'neg' ? this.nodes[a].in![0] : undefined
      case 'where':
        return b === c ? b : undefined
      case 'gmul':
        return x === 0 ? a : x !== undefined || y !== undefined ? this.add('mul', [a, b]) : undefined
      case 'gdiv':
        return x === 0 ? a : x !== undefined || (y !== undefined && y !== 0) ? this.add('div', [a, b]) : undefined
      default:
        return undefined
    }
  }

  /** A truth value is never taken for a number, not even when nothing is added to it: the type check must see it. */
  #keep(index: number): number | undefined {
    return this.types[index]?.bool ? undefined : index
  }
}

function fold(op: ProgramOp, x: number, y: number): number | undefined {
  switch (op) {
    case 'add':
      return x + y
    case 'sub':
      return x - y
    case 'mul':
    case 'gmul':
      return x * y
    case 'div':
    case 'gdiv':
      return x / y
    default:
      return undefined
  }
}

function keyOf(node: ProgramNode): string {
  return `${node.op} ${node.in?.join() ?? ''} ${node.value ?? ''} ${node.shape ?? ''} ${node.name ?? ''}`
}
