import type { LossGraph } from './graph.js'

/**
 * What a model can tell about each scored token, and what a loss can be differentiated by. `sum_pi_squared`: Σ π² over the
 * vocabulary. `logprob@x`: log π of the token whose id stands in the column x, in place of the one that was drawn.
 */
export type ScoreKind = 'logprob' | 'entropy' | 'sum_pi_squared' | 'value' | `logprob@${string}`

const AT = 'logprob@'

/** The column whose ids a score is of; undefined: it is of the row's own tokens. */
export function idColumn(kind: string): string | undefined {
  return kind.startsWith(AT) && kind.length > AT.length ? kind.slice(AT.length) : undefined
}

/** The part of a training row that a loss sees. Token `i` of a row is its `i`-th scored token. */
export interface LossRow {
  /** 1 where the token takes part in the loss. Its length is the number of scored tokens of the row. */
  readonly mask: Uint8Array
  /** Rows of one bundle are never separated (the two answers of a DPO pair). */
  readonly bundle?: string
  /** Rows of one task: what group reductions run over. A row without one is a group by itself. */
  readonly group?: string
  /** Inputs of the loss: an array holds one number per scored token, a number belongs to the whole row. */
  readonly columns: Readonly<Record<string, Float32Array | number>>
}

/**
 * A loss as data. The graph only sums; everything it divides by is a normalizer computed from the whole mini-batch
 * before the forward pass. That is why no split into micro-batches or ranks changes the loss or its gradient.
 */
export interface Loss {
  readonly graph: LossGraph
  readonly wants: readonly ScoreKind[]
  /**
   * What must stay together for the graph to be right: the tokens of a row, the rows of a bundle, or the whole batch.
   * `batch` costs a second forward pass: all scores first, then the backward pass weighted by d(loss)/d(score).
   */
  readonly coupling: 'row' | 'bundle' | 'batch'
  /** Scalars by name, from every row of the mini-batch. */
  norms(rows: readonly LossRow[]): Record<string, number>
}

/** A metric that adds up over micro-batches and ranks: `mean` = Σ value·weight / Σ weight. */
export interface LossMetric {
  readonly value: number
  readonly weight: number
  readonly reduce: 'mean' | 'sum' | 'max' | 'min'
}
/** The metrics of a loss by name. */
export type LossMetrics = Record<string, LossMetric>
