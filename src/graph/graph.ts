import { createHash } from 'node:crypto'
import { idColumn, type LossMetric, type ScoreKind } from './loss.js'
import { type OpName, SCORE_KINDS } from './ops.js'

export const GRAPH_VERSION = 1

/**
 * One operation. `in` are indices of earlier nodes, so the list is in evaluation order and cannot hold a cycle.
 * The format is described in docs/loss-graph.md; other languages read the same JSON.
 */
export interface GraphNode {
  readonly op: OpName
  readonly in?: readonly number[]
  /** `const`: the number. */
  readonly value?: number
  /** `norm`, `column`, `score`: which one. */
  readonly name?: string
  /** `column`: whether it holds one number per token or per row. */
  readonly shape?: 'token' | 'row'
}

/**
 * A number to report. `value` and `weight` are nodes: over tokens, over rows, or scalars.
 * `mean` = Σ value·weight / Σ weight (weight 1 where absent); `sum`, `max`, `min` are over tokens or rows as well.
 */
export interface GraphMetric {
  readonly name: string
  readonly value: number
  readonly weight?: number
  readonly reduce: LossMetric['reduce']
}

/** A loss as plain data: `loss` is the index of a scalar node. */
export interface LossGraph {
  readonly version: typeof GRAPH_VERSION
  readonly nodes: readonly GraphNode[]
  readonly loss: number
  readonly metrics: readonly GraphMetric[]
}

/** One text per content: the same graph always gives the same bytes. */
export function serializeGraph(graph: LossGraph): string {
  const nodes = graph.nodes.map(({ op, in: operands, value, name, shape }) => ({
    op,
    in: operands,
    value,
    name,
    shape,
  }))
  const metrics = graph.metrics.map(({ name, value, weight, reduce }) => ({ name, value, weight, reduce }))
  return JSON.stringify({ version: graph.version, nodes, loss: graph.loss, metrics })
}

/** Identifies a graph by content, across processes and languages. */
export function graphHash(graph: LossGraph): string {
  return createHash('sha256').update(serializeGraph(graph)).digest('hex')
}

/** Names of the inputs that a graph reads. */
export interface GraphInputs {
  readonly scores: readonly ScoreKind[]
  readonly norms: readonly string[]
  readonly columns: readonly { readonly name: string; readonly shape: 'token' | 'row' }[]
}

export function graphInputs(graph: Pick<LossGraph, 'nodes'>): GraphInputs {
  const named = (op: OpName) => graph.nodes.filter((node) => node.op === op)
  const read = new Set(named('score').map((node) => node.name as ScoreKind))
  const others = [...read].filter((kind) => idColumn(kind) !== undefined)
  const ids = others.map((kind) => ({ name: idColumn(kind)!, shape: 'token' as const }))
  return {
    scores: [...SCORE_KINDS.filter((kind) => read.has(kind)), ...others],
    norms: [...new Set(named('norm').map((node) => node.name!))],
    columns: [...named('column').map((node) => ({ name: node.name!, shape: node.shape! })), ...ids],
  }
}
