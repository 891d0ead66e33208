import { idColumn } from '../../graph/loss.js'
import type { Row, ScoreKind } from '../contract.js'
import { otherTokens } from '../other-tokens.js'
import type { Datum } from './wire/forward-backward.js'

/**
 * One row seen by one kind of score: the log-probs of its own tokens, or of others in their places. At the service each
 * is a sequence of its own.
 */
export interface View {
  readonly row: Row
  readonly kind: ScoreKind
  /** The token whose log-prob is asked for, after each token of the input. */
  readonly targets: Int32Array
}

/** Every view that has something to score, rows in their order. */
export function viewsOf(rows: readonly Row[], kinds: readonly ScoreKind[], vocabSize: number): View[] {
  return rows.flatMap((row) =>
    row.mask.length === 0 ? [] : kinds.map((kind) => ({ row, kind, targets: targetsOf(row, kind, vocabSize) })),
  )
}

function targetsOf(row: Row, kind: ScoreKind, vocabSize: number): Int32Array {
  const own = row.tokens.slice(1)
  if (idColumn(kind) === undefined) return own
  own.set(otherTokens([row], kind, vocabSize), row.start - 1)
  return own
}

/** The view as the service takes it; arrays hold one number for each token of the input. */
export function datumOf({ row, targets }: View, inputs: Readonly<Record<string, Float32Array>>): Datum {
  return { tokens: row.tokens.subarray(0, row.tokens.length - 1), targets, inputs }
}

/** Numbers of scored tokens, put where the service has them; 0 elsewhere. */
export function spread({ start, tokens }: Row, scored: Float32Array): Float32Array {
  const all = new Float32Array(tokens.length - 1)
  all.set(scored, start - 1)
  return all
}

/** The numbers of the scored tokens among those of all. */
export function scoredOf({ start }: Row, all: Float32Array): Float32Array {
  return all.slice(start - 1)
}
