import { type Evaluation, evaluateLoss, type TokenScores } from '../../graph/evaluate.js'
import type { Loss, Row, RowScores, ScoreKind } from '../contract.js'
import { concat } from '../native/packed.js'
import type { Pull } from './backward.js'
import { isGiven, withEstimates } from './estimate.js'
import { dealt, type Scored } from './score.js'

/** A loss on a whole batch: its value, what it says of each row, and what it pulls at. */
export interface Evaluated {
  readonly result: Evaluation
  readonly scores: RowScores[]
  readonly pulls: Pull[]
}

/** The scores of a loss that the service gives. */
export function givenKinds({ wants }: Loss): ScoreKind[] {
  const given = wants.filter(isGiven)
  // estimates are made of it
  return given.includes('logprob') ? given : ['logprob', ...given]
}

export function evaluated(
  rows: readonly Row[],
  loss: Loss,
  norms: Readonly<Record<string, number>>,
  scored: readonly Scored[],
): Evaluated {
  const kinds = givenKinds(loss)
  const given: TokenScores = {}
  const own = dealt(rows, kinds, scored)
  for (const kind of kinds) given[kind] = concat(own.map((row) => row[kind]!))
  const all = withEstimates(given, loss.wants)
  const result = evaluateLoss(loss, rows, norms, all)
  return { result, scores: scoresOf(rows, loss.wants, all), pulls: pullsOf(rows, result.grads, scored) }
}

/** d(loss)/d(score) before any score is known, of a loss whose derivative does not read any. */
export function blindGrads(rows: readonly Row[], loss: Loss, norms: Readonly<Record<string, number>>): TokenScores {
  const length = rows.reduce((sum, { mask }) => sum + mask.length, 0)
  const none = Object.fromEntries(loss.wants.map((kind) => [kind, new Float32Array(length)]))
  return evaluateLoss(loss, rows, norms, none).grads
}

/** Each view with its part of the gradient; those of scores that the loss does not depend on have none. */
export function pullsOf(rows: readonly Row[], grads: TokenScores, scored: readonly Scored[]): Pull[] {
  const offsets = offsetsOf(rows)
  return scored.flatMap(({ view, logprobs }) => {
    const grad = grads[view.kind]
    const from = offsets.get(view.row)!
    return grad ? [{ view, logprobs, grad: grad.slice(from, from + view.row.mask.length) }] : []
  })
}

function scoresOf(rows: readonly Row[], kinds: readonly ScoreKind[], all: TokenScores): RowScores[] {
  const offsets = offsetsOf(rows)
  return rows.map((row) => {
    const from = offsets.get(row)!
    const own = kinds.map((kind) => [kind, all[kind]!.slice(from, from + row.mask.length)] as const)
    return { id: row.id, ...Object.fromEntries(own) }
  })
}

function offsetsOf(rows: readonly Row[]): Map<Row, number> {
  let at = 0
  return new Map(
    rows.map((row) => {
      at += row.mask.length
      return [row, at - row.mask.length]
    }),
  )
}
