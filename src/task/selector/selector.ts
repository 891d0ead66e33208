import type { z } from 'zod'
import { TrinityError } from '../../error.js'
import { Registry } from '../../registry.js'

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

export const selectors = new Registry<SelectorType>('selector')

/** `data_selector` of a task set, under its names in the YAML. */
export interface SelectorConfig {
  selector_type?: string | null
  seed?: number
  feature_keys?: readonly string[]
  kwargs?: Record<string, unknown>
}

/** Reads the features only when the selector wants any. */
export async function createSelector(
  config: SelectorConfig,
  size: number,
  readFeatures: (keys: readonly string[]) => Promise<Float64Array[]>,
): Promise<Selector> {
  const name = config.selector_type ?? 'sequential'
  const type = selectors.get(name)
  const args = type.args.safeParse(config.kwargs ?? {})
  if (!args.success) {
    const issues = args.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`.trim())
    throw new TrinityError('task/selector', `selector '${name}': ${issues.join('; ')}`, {
      path: 'data_selector.kwargs',
    })
  }
  const keys = config.feature_keys ?? []
  const [min, max] = type.features
  if (keys.length < min || (max > 0 && keys.length > max)) {
    throw new TrinityError('task/selector', `selector '${name}' needs ${feature(min, max)}, got ${keys.length}`, {
      path: 'data_selector.feature_keys',
      hint: 'name the columns that hold them',
    })
  }
  const features = max > 0 ? await readFeatures(keys) : []
  const context = { size, seed: config.seed ?? 42, features, featureKeys: max > 0 ? keys : [] }
  return type.create(context, args.data as never)
}

function feature(min: number, max: number): string {
  return `${min === max ? `exactly ${min}` : `at least ${min}`} feature key${min === 1 ? '' : 's'}`
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
