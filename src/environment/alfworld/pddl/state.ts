import type { Scope } from './scope.js'
import type { Tables } from './search.js'
import { type Row, Table } from './table.js'

/** A fact that an action makes true or false. */
export interface Change {
  readonly predicate: number
  readonly row: Row
  readonly makes: boolean
  /** It happens; otherwise the effect has a condition that does not hold. */
  readonly happens: boolean
}

/**
 * What holds, and what the game tells about it. They differ in two ways: a fact that was taken back is told as its
 * negation, while one that never held is not told at all; and effects with a condition are told as if it held.
 * A state is never changed: actions give new ones.
 */
export interface State {
  readonly truth: Tables
  /** Facts by predicate, then negations by predicate. */
  readonly told: Tables
}

export function startOf(truth: Tables): State {
  return { truth, told: [...truth, ...truth.map(() => Table.empty)] }
}

/** What is made and taken back at once is made, but told in the order given. */
export function changed(state: State, changes: readonly Change[], scope: Scope): State {
  const truth = [...state.truth]
  const told = [...state.told]
  for (const { predicate, row, makes, happens } of changes) {
    if (happens && !makes) truth[predicate] = truth[predicate].without(row)
  }
  for (const { predicate, row, makes, happens } of changes) {
    if (happens && makes) truth[predicate] = scope.single(predicate, truth[predicate].with(row))
  }
  for (const { predicate, row, makes } of changes) {
    const negation = predicate + truth.length
    // As long as nothing tells them apart, both are one table.
    if (state.told[predicate] === state.truth[predicate] && changes.every((one) => one.happens)) {
      told[predicate] = truth[predicate]
    } else told[predicate] = makes ? told[predicate].with(row) : told[predicate].without(row)
    told[negation] = makes ? told[negation].without(row) : told[negation].with(row)
  }
  return { truth, told }
}
