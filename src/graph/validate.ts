import { messageOf, TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
import { GRAPH_VERSION, type GraphMetric, type GraphNode, type LossGraph } from './graph.js'
import type { ProgramNode } from './nodes.js'
import {
  isBatchWide,
  isScore,
  joinShapes,
  mapOp,
  type NodeType,
  OP_NAMES,
  type OpName,
  orderOp,
  reshapeOp,
  SCORE_KINDS,
} from './ops.js'

/** More than any loss needs; together they bound what an untrusted graph can cost. */
const MAX_NODES = 2000
const MAX_SUMS_IN_SUMS = 16
const NAME = /^[A-Za-z_][\w.:/@-]{0,127}$/
const REDUCES: readonly string[] = ['mean', 'sum', 'max', 'min']

/** Reads a graph from text that nobody vouches for. */
export function parseGraph(text: string): LossGraph {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (cause) {
    throw new TrinityError('graph/invalid', `not JSON: ${messageOf(cause)}`, { cause })
  }
  return validateGraph(data)
}

/** Checks everything the evaluator relies on and returns a clean copy. Throws `graph/invalid` that names the place. */
export function validateGraph(data: unknown): LossGraph {
  const graph = record(data, 'graph', ['version', 'nodes', 'loss', 'metrics'])
  if (graph.version !== GRAPH_VERSION) {
    throw new TrinityError('graph/version', `graph version is ${String(graph.version)}`, {
      path: 'version',
      hint: `this software reads version ${GRAPH_VERSION}`,
    })
  }
  if (!Array.isArray(graph.nodes)) fail('nodes', 'must be a list')
  const list = graph.nodes as unknown[]
  if (list.length > MAX_NODES) fail('nodes', `${list.length} nodes, at most ${MAX_NODES} are allowed`)
  const nodes: GraphNode[] = []
  const types: NodeType[] = []
  const sums: number[] = []
  for (const [i, item] of list.entries()) {
    const node = readNode(item, `nodes[${i}]`, i)
    const depth = Math.max(0, ...(node.in ?? []).map((k) => sums[k])) + (isSum(node.op) ? 1 : 0)
    if (depth > MAX_SUMS_IN_SUMS) fail(`nodes[${i}]`, `more than ${MAX_SUMS_IN_SUMS} sums within sums`)
    sums.push(depth)
    types.push(nodeType(node, nodes, types, `nodes[${i}]`))
    nodes.push(node)
  }
  const index = (value: unknown, path: string): number => {
    if (!Number.isInteger(value) || !((value as number) >= 0 && (value as number) < nodes.length)) {
      fail(path, `${String(value)} is not the index of a node`)
    }
    if (types[value as number].bool) fail(path, 'is a truth value, a number is needed', "use 'where' to make it 1 or 0")
    return value as number
  }
  const loss = index(graph.loss, 'loss')
  if (types[loss].shape !== 'scalar') fail('loss', `has shape ${types[loss].shape}`, "sum it up with 'total'")
  if (!Array.isArray(graph.metrics)) fail('metrics', 'must be a list')
  const names = new Set<string>()
  const metrics = (graph.metrics as unknown[]).map((item, i): GraphMetric => {
    const path = `metrics[${i}]`
    const { name, value, weight, reduce } = record(item, path, ['name', 'value', 'weight', 'reduce'])
    if (typeof name !== 'string' || !NAME.test(name)) fail(`${path}.name`, 'is not a name')
    if (names.has(name as string)) fail(`${path}.name`, `'${name}' is given twice`)
    names.add(name as string)
    if (!REDUCES.includes(reduce as string)) fail(`${path}.reduce`, `must be one of ${REDUCES.join(', ')}`)
    const metric = {
      name: name as string,
      value: index(value, `${path}.value`),
      reduce: reduce as GraphMetric['reduce'],
    }
    if (weight === undefined) return metric
    const heavy = index(weight, `${path}.weight`)
    if (reduce !== 'mean') fail(`${path}.weight`, `has no meaning for '${reduce}'`)
    if (!joinShapes([types[heavy].shape, types[metric.value].shape]))
      fail(`${path}.weight`, 'has a different shape than value')
    return { ...metric, weight: heavy }
  })
  return { version: GRAPH_VERSION, nodes, loss, metrics }
}

/** Derives what a node holds; throws when its operands do not fit. Shared by the tracer and the validator. */
export function nodeType(
  node: ProgramNode,
  before: readonly ProgramNode[],
  types: readonly NodeType[],
  path: string,
): NodeType {
  const operands = node.in ?? []
  const given = operands.map((i) => types[i])
  const map = mapOp(node.op)
  if (map) {
    if (given.length !== map.arity) fail(path, `'${node.op}' takes ${map.arity} operands, not ${given.length}`)
    given.forEach((type, k) => {
      const wanted = map.takesBool?.[k] ?? false
      if (type.bool === wanted) return
      fail(
        path,
        `operand ${k + 1} of '${node.op}' must be a ${wanted ? 'truth value' : 'number'}`,
        wanted ? 'compare it with something: x.gt(0)' : "use 'where' to turn a truth value into a number",
      )
    })
    if (node.op === 'pow' && before[operands[1]].op !== 'const')
      fail(path, "the exponent of 'pow' must be a constant", 'x to a computed power y is x.log().mul(y).exp()')
    if (node.op === 'clamp' && operands.slice(1).some((i) => !['const', 'norm'].includes(before[i].op))) {
      fail(
        path,
        "bounds of 'clamp' must be constants or normalizers",
        "use 'min' and 'max' for bounds that are computed",
      )
    }
    const shape = joinShapes(given.map((type) => type.shape))
    if (!shape) {
      const hint = "bring the row value to the tokens with 'toTokens', or sum the tokens with 'rowSum'"
      fail(path, `'${node.op}' mixes ${given.map((type) => type.shape).join(' and ')}`, hint)
    }
    return { shape: shape!, bool: map.givesBool ?? false }
  }
  const reshape = reshapeOp(node.op)
  if (reshape) {
    if (given.length !== 1) fail(path, `'${node.op}' takes 1 operand, not ${given.length}`)
    const keepsKind = node.op === 'toTokens'
    if (given[0].bool && !keepsKind)
      fail(path, `'${node.op}' needs numbers`, "use 'where' to turn a truth value into a number")
    if (!reshape.from.includes(given[0].shape)) {
      fail(path, `'${node.op}' takes a ${reshape.from.join(' or ')} value, not a ${given[0].shape} value`)
    }
    return { shape: reshape.to, bool: given[0].bool }
  }
  const order = orderOp(node.op)
  if (order) {
    const count = order.arity === 1 ? '1 operand' : `${order.arity} operands`
    if (given.length !== order.arity) fail(path, `'${node.op}' takes ${count}, not ${given.length}`)
    if (given.some(({ bool }) => bool))
      fail(path, `'${node.op}' needs numbers`, "use 'where' to turn a truth value into a number")
    const [{ shape }] = given
    if (shape === 'scalar' || given.some((type) => type.shape !== shape))
      fail(path, `'${node.op}' takes token values or row values, not ${given.map((type) => type.shape).join(' and ')}`)
    return { shape, bool: false }
  }
  if (given.length > 0) fail(path, `'${node.op}' takes no operands`)
  if (node.op === 'column') return { shape: node.shape!, bool: false }
  return { shape: node.op === 'score' ? 'token' : node.op === 'count' ? 'row' : 'scalar', bool: false }
}

const SUMS = ['rowSum', 'rowMax', 'bundleSum', 'total']
const isSum = (op: string) => SUMS.includes(op) || isBatchWide(op)

function readNode(item: unknown, path: string, at: number): GraphNode {
  const { op, in: operands, value, name, shape } = record(item, path, ['op', 'in', 'value', 'name', 'shape'])
  if (typeof op !== 'string' || !OP_NAMES.includes(op)) {
    const near = typeof op === 'string' ? nearest(op, OP_NAMES) : undefined
    fail(`${path}.op`, `unknown operation '${String(op)}'`, near && `did you mean '${near}'?`)
  }
  const node: { -readonly [K in keyof GraphNode]: GraphNode[K] } = { op: op as OpName }
  if (operands !== undefined) {
    if (!Array.isArray(operands)) fail(`${path}.in`, 'must be a list')
    for (const [k, i] of (operands as unknown[]).entries()) {
      if (!Number.isInteger(i) || (i as number) < 0 || (i as number) >= at) {
        fail(`${path}.in[${k}]`, `${String(i)} is not the index of an earlier node`)
      }
    }
    node.in = [...(operands as number[])]
  }
  const only = (key: string, present: unknown, wanted: boolean) => {
    if ((present !== undefined) !== wanted) fail(`${path}.${key}`, wanted ? `'${op}' needs it` : `'${op}' has none`)
  }
  only('value', value, op === 'const')
  only('name', name, op === 'norm' || op === 'column' || op === 'score')
  only('shape', shape, op === 'column')
  if (value !== undefined) {
    if (typeof value !== 'number' || !Number.isFinite(value)) fail(`${path}.value`, 'must be a finite number')
    node.value = value as number
  }
  if (name !== undefined) {
    if (typeof name !== 'string' || !NAME.test(name)) fail(`${path}.name`, 'is not a name')
    if (op === 'score' && !isScore(name as string)) {
      fail(`${path}.name`, `unknown score '${name}'`, `one of ${SCORE_KINDS.join(', ')}, or logprob@ and a column`)
    }
    node.name = name as string
  }
  if (shape !== undefined) {
    if (shape !== 'token' && shape !== 'row') fail(`${path}.shape`, "must be 'token' or 'row'")
    node.shape = shape as 'token' | 'row'
  }
  return node
}

function record(data: unknown, path: string, keys: readonly string[]): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) fail(path, 'must be an object')
  for (const key of Object.keys(data as object)) {
    if (!keys.includes(key)) fail(`${path}.${key}`, 'unknown key', `known: ${keys.join(', ')}`)
  }
  return data as Record<string, unknown>
}

function fail(path: string, message: string, hint?: string): never {
  throw new TrinityError('graph/invalid', `${path}: ${message}`, { path, hint })
}
