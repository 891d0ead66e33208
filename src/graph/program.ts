import { differentiate, rowOnes } from './differentiate.js'
import { Emitter, type Layout, reach } from './emit.js'
import { GRAPH_VERSION, type GraphMetric, type GraphNode, graphHash, type LossGraph } from './graph.js'
import type { LossMetric, ScoreKind } from './loss.js'
import { NodeList, type ProgramNode } from './nodes.js'
import { joinShapes, mapOp } from './ops.js'
import { all, ranks, sumsUpTo } from './order.js'
import { validateGraph } from './validate.js'

/** What generated code reads and writes. Lists are in the order of the program's layout. */
export interface ProgramArgs {
  rows: number
  /** Where each row begins in the concatenated scores. */
  offsets: Int32Array
  masks: readonly Uint8Array[]
  /** Active tokens of each row. */
  counts: Float64Array
  /** Number of each row's bundle, below `rows`. */
  bundles: Int32Array
  /** Number of each row's group, below `rows`; only where the layout asks for it. */
  groups: Int32Array
  /** Places of the active tokens; only where the layout asks for it. */
  active: Int32Array
  tokens: readonly (readonly Float32Array[])[]
  columns: readonly Float64Array[]
  scores: readonly Float32Array[]
  norms: Float64Array
  outs: readonly Float32Array[]
  result: Float64Array
}

/** Where a metric's numbers stand in `result`. */
export interface MetricSlot {
  readonly name: string
  readonly reduce: LossMetric['reduce']
  readonly value: number
  readonly weight: number
}

export interface Program {
  readonly layout: Layout
  readonly run: (args: ProgramArgs) => void
  /** The token vectors it gives: gradients, by score, in the order of `outs`. */
  readonly outs: readonly ScoreKind[]
  /** How many numbers `result` must hold; the loss is the first. */
  readonly results: number
  readonly metrics: readonly MetricSlot[]
  readonly derivative: Derivative
}

/** The gradient as nodes, and nothing that it does not need. */
export interface Derivative {
  readonly nodes: readonly ProgramNode[]
  /** d(loss)/d(score) of every score that the loss depends on. */
  readonly grads: readonly number[]
  /** Names of the columns that it reads. */
  readonly columns: readonly string[]
}

const MAX_CACHED = 256
const byGraph = new WeakMap<LossGraph, Program>()
const byContent = new Map<string, Program>()

/** The graph and its derivative, compiled once per content. */
export function lossProgram(graph: LossGraph): Program {
  const known = byGraph.get(graph)
  if (known) return known
  const hash = graphHash(graph)
  let program = byContent.get(hash)
  if (!program) {
    program = compileLoss(graph)
    if (byContent.size >= MAX_CACHED) byContent.delete(byContent.keys().next().value!)
    byContent.set(hash, program)
  }
  byGraph.set(graph, program)
  return program
}

function compileLoss(untrusted: LossGraph): Program {
  // Checked here and not by the caller: code is generated from it.
  const graph = validateGraph(untrusted)
  const list = new NodeList(graph.nodes)
  const grads = [...differentiate(list, graph.loss)].filter(([, node]) => list.nodes[node].value !== 0)
  const derivative = derivativeOf(
    list,
    grads.map(([, node]) => node),
  )
  const scalars = [graph.loss]
  const metrics = graph.metrics.map((metric): MetricSlot => {
    const { value, weight } = metricSums(list, metric)
    const at = scalars.push(value, weight)
    return { name: metric.name, reduce: metric.reduce, value: at - 2, weight: at - 1 }
  })
  const emitter = new Emitter(list, { scalars, tokens: grads.map(([, node]) => node) })
  const outs = grads.map(([kind]) => kind)
  return { ...build(emitter), outs, results: scalars.length, metrics, derivative }
}

function derivativeOf(list: NodeList, roots: readonly number[]): Derivative {
  const kept = [...reach(list, roots)].sort((a, b) => a - b)
  const place = new Map(kept.map((old, at) => [old, at]))
  const nodes = kept.map((old): ProgramNode => {
    const node = list.nodes[old]
    return node.in ? { ...node, in: node.in.map((operand) => place.get(operand)!) } : node
  })
  const columns = nodes.flatMap(({ op, name }) => (op === 'column' ? [name!] : []))
  return { nodes, grads: roots.map((root) => place.get(root)!), columns: [...new Set(columns)] }
}

/** The two scalars of a metric: Σ value·weight and Σ weight, or the extreme and how many numbers it is taken from. */
function metricSums(list: NodeList, { value, weight, reduce }: GraphMetric): { value: number; weight: number } {
  const one = list.constant(1)
  const shape = joinShapes([list.types[value].shape, list.types[weight ?? value].shape])!
  if (shape === 'scalar') {
    return reduce === 'mean' && weight !== undefined
      ? { value: list.add('mul', [value, weight]), weight }
      : { value, weight: one }
  }
  const perRow = shape === 'row' ? rowOnes(list) : list.add('count')
  const sum = (node: number) =>
    list.types[node].shape === shape ? list.add('total', [node]) : list.add('mul', [node, list.add('total', [perRow])])
  if (reduce === 'mean') return { value: sum(list.add('mul', [value, weight ?? one])), weight: sum(weight ?? one) }
  if (reduce === 'sum') return { value: sum(value), weight: one }
  return { value: list.add(reduce === 'max' ? 'totalMax' : 'totalMin', [value]), weight: sum(one) }
}

/** A formula over tokens whose values themselves are wanted: `node` is a token value. */
export interface TokenFormula {
  readonly nodes: readonly GraphNode[]
  readonly node: number
}

export function tokenProgram({ nodes, node }: TokenFormula): Pick<Program, 'layout' | 'run'> {
  validateGraph({
    version: GRAPH_VERSION,
    nodes: [...nodes, { op: 'const', value: 0 }],
    loss: nodes.length,
    metrics: [],
  })
  return build(new Emitter(new NodeList(nodes), { scalars: [], tokens: [node] }))
}

function build(emitter: Emitter): Pick<Program, 'layout' | 'run'> {
  const body = emitter.emit()
  const names = Object.keys(HELPERS)
  const make = new Function(...names, `return function lossProgram(a) {\n${body}\n}`)
  return { layout: emitter.layout, run: make(...Object.values(HELPERS)) as Program['run'] }
}

/** What generated code may call, by name. */
const HELPERS = { sigmoid, logSigmoid, logAddExp, ranks, sumsUpTo, all }

const functions = new Map<string, (...operands: number[]) => number>()

/** An element-wise operation on numbers by itself, as it is in a program. */
export function functionOf(op: string): (...operands: number[]) => number {
  const known = functions.get(op)
  if (known) return known
  const code = `return (a, b, c) => ${mapOp(op)!.js('a', 'b', 'c')}`
  const made = new Function(...Object.keys(HELPERS), code)(...Object.values(HELPERS))
  functions.set(op, made)
  return made
}

function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x))
  const e = Math.exp(x)
  return e / (1 + e)
}

function logSigmoid(x: number): number {
  return x >= 0 ? -Math.log1p(Math.exp(-x)) : x - Math.log1p(Math.exp(x))
}

function logAddExp(a: number, b: number): number {
  if (a === b) return a + Math.LN2
  const [high, low] = a > b ? [a, b] : [b, a]
  return high + Math.log1p(Math.exp(low - high))
}
