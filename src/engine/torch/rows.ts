import { bundleNumbers, groupNumbers, rowColumn, tokenColumn } from '../../graph/evaluate.js'
import { graphInputs, type LossGraph } from '../../graph/graph.js'
import { idColumn } from '../../graph/loss.js'
import type { Row, RowScores, ScoreKind } from '../contract.js'
import { ofOthers, otherTokens } from '../other-tokens.js'
import type { Tensors } from './connection.js'
import type { FrameTensor } from './frames.js'

/** Rows as a worker takes them: one after the other, in tensors. See trinity_torch/network/rows.py. */
export function rowTensors(rows: readonly Row[]): Tensors {
  let tokens = 0
  let scored = 0
  for (const row of rows) {
    tokens += row.tokens.length
    scored += row.mask.length
  }
  const all = { tokens: new Int32Array(tokens), mask: new Uint8Array(scored) }
  let token = 0
  let score = 0
  for (const row of rows) {
    all.tokens.set(row.tokens, token)
    all.mask.set(row.mask, score)
    token += row.tokens.length
    score += row.mask.length
  }
  return {
    ...all,
    lengths: Int32Array.from(rows, (row) => row.tokens.length),
    starts: Int32Array.from(rows, (row) => row.start),
    temperatures: Float32Array.from(rows, (row) => row.temperature),
    bundles: bundleNumbers(rows),
    groups: groupNumbers(rows),
  }
}

/** Columns as they cross: how each is laid out, and its numbers. */
interface Columns {
  readonly shapes: Record<string, 'token' | 'row'>
  readonly tensors: Tensors
}

/** The columns that hold the ids which scores are of. */
export function idTensors(kinds: readonly ScoreKind[], rows: readonly Row[], vocabSize: number): Columns {
  const named = ofOthers(kinds).map((kind) => [idColumn(kind)!, otherTokens(rows, kind, vocabSize)] as const)
  return {
    shapes: Object.fromEntries(named.map(([name]) => [name, 'token'])),
    tensors: Object.fromEntries(named.map(([name, ids]) => [`column:${name}`, Float32Array.from(ids)])),
  }
}

/** The columns that a loss reads, and no others. */
export function columnTensors(graph: LossGraph, rows: readonly Row[]): Columns {
  const shapes: Record<string, 'token' | 'row'> = {}
  // read both ways it is one number for the row, which the worker spreads
  for (const { name, shape } of graphInputs(graph).columns) if (shapes[name] !== 'row') shapes[name] = shape
  const tensors: Record<string, Float32Array> = {}
  for (const [name, shape] of Object.entries(shapes)) {
    tensors[`column:${name}`] =
      shape === 'row' ? Float32Array.from(rows, (row, r) => rowColumn(row, r, name)) : tokens(rows, name)
  }
  return { shapes, tensors }
}

function tokens(rows: readonly Row[], name: string): Float32Array {
  const all = new Float32Array(rows.reduce((sum, row) => sum + row.mask.length, 0))
  let at = 0
  for (const [r, row] of rows.entries()) {
    all.set(tokenColumn(row, r, name), at)
    at += row.mask.length
  }
  return all
}

/** The part of each row in scores that lie one after the other. */
export function dealScores(
  rows: readonly Row[],
  kinds: readonly ScoreKind[],
  tensors: ReadonlyMap<string, FrameTensor>,
): RowScores[] {
  let at = 0
  return rows.map(({ id, mask }) => {
    const own: Record<string, unknown> = { id }
    for (const kind of kinds) {
      const all = tensors.get(kind)?.data as Float32Array | undefined
      own[kind] = all ? all.slice(at, at + mask.length) : new Float32Array(mask.length)
    }
    at += mask.length
    return own as unknown as RowScores
  })
}
