import type { Table } from './table.js'

/** Values of variables and constants, by slot: numbers of objects. */
export type Bindings = number[]

/** Facts by number of the predicate. */
export type Tables = readonly Table[]

export type Test = (bind: Bindings, tables: Tables) => boolean

/** One part of looking for values: facts that match, a condition on values already found, or any object of a kind. */
export type Step =
  | {
      readonly kind: 'match'
      readonly predicate: number
      /** Slots. */
      readonly terms: readonly number[]
      /** The place whose value is known and finds the rows; −1: none is. */
      readonly key: number
      /** Per place, which objects the slot may get here for the first time; undefined: it has its value. */
      readonly fresh: readonly (Uint8Array | undefined)[]
    }
  | { readonly kind: 'test'; readonly test: Test }
  | { readonly kind: 'any'; readonly slot: number; readonly objects: readonly number[] }

/**
 * Calls `found` for all values that satisfy the steps, until it returns true; says whether it did. The values stand in
 * `bind` during the call.
 */
export function search(
  steps: readonly Step[],
  bind: Bindings,
  tables: Tables,
  found: (bind: Bindings) => boolean,
  at = 0,
): boolean {
  if (at === steps.length) return found(bind)
  const step = steps[at]
  if (step.kind === 'test') return step.test(bind, tables) && search(steps, bind, tables, found, at + 1)
  if (step.kind === 'any') {
    for (const object of step.objects) {
      bind[step.slot] = object
      if (search(steps, bind, tables, found, at + 1)) return true
    }
    return false
  }
  const { predicate, terms, key, fresh } = step
  const table = tables[predicate]
  const rows = key < 0 ? table.rows : table.where(key, bind[terms[key]])
  each: for (const row of rows) {
    for (let place = 0; place < terms.length; place++) {
      const allowed = fresh[place]
      if (allowed === undefined) {
        if (bind[terms[place]] !== row[place]) continue each
      } else if (allowed[row[place]] === 1) bind[terms[place]] = row[place]
      else continue each
    }
    if (search(steps, bind, tables, found, at + 1)) return true
  }
  return false
}
