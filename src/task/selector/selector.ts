import type { z } from 'zod'
import { TrinityError } from '../../base/error.js'

/** Decides which rows of a data set come next. Everything it does follows from its seed, its state and the feedback. */
export interface Selector {
  /** The next `count` rows. */
  take(count: number): Int32Array
  /** Observed pass rates of rows that were taken. */
  feedback(rows: ArrayLike<number>, values: ArrayLike<number>): void
  /** Plain JSON; a selector restored from it goes on exactly as this one would. */
  state(): SelectorState
  restore(state: SelectorState): void
}

export interface SelectorState {
  /** Rows taken so far. */
  current_index: number
  [more: string]: unknown
}

export interface SelectorContext {
  /** Rows in the data set. */
  size: number
  seed: number
  /** One array per entry of `feature_keys`. */
  features: readonly Float64Array[]
  featureKeys: readonly string[]
}

export interface SelectorType {
  readonly doc: string
  /** The arguments under `kwargs`. */
  readonly args: z.ZodObject
  /** How many `feature_keys` it needs, at least and at most. */
  readonly features: readonly [min: number, max: number]
  create(context: SelectorContext, args: never): Selector
}

/**
 * Describes a selector for the registry; `create` gets its arguments checked and with their types.
 * @example
 * import { z } from 'trinity-rft'
 * import { CountingSelector, selector, selectors } from 'trinity-rft/data'
 *
 * class First extends CountingSelector {
 *   override take = (count: number) => new Int32Array(count)
 * }
 * selectors.add('first', selector({
 *   doc: 'the first row, again and again',
 *   args: z.strictObject({}),
 *   features: [0, 0],
 *   create: () => new First(),
 * }))
 */
export function selector<S extends z.ZodObject>(type: {
  doc: string
  args: S
  features: readonly [min: number, max: number]
  create(context: SelectorContext, args: z.output<S>): Selector
}): SelectorType {
  return type
}

/** What every selector without further state needs. */
export abstract class CountingSelector implements Selector {
  protected position = 0

  abstract take(count: number): Int32Array

  feedback(_rows: ArrayLike<number>, _values: ArrayLike<number>): void {}

  state(): SelectorState {
    return { current_index: this.position }
  }

  restore(state: SelectorState): void {
    const { current_index: index } = state
    if (!Number.isSafeInteger(index) || index < 0) {
      throw new TrinityError('task/state', `the saved position of a selector is ${index}`, {
        hint: 'the checkpoint is damaged, or belongs to another version',
      })
    }
    this.position = index
  }
}
