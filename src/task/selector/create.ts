import { TrinityError } from '../../base/error.js'
import type { DataSelectorConfig, Given } from '../../config/index.js'
import { selectors } from './registry.js'
import type { Selector } from './selector.js'

/** Reads the features only when the selector wants any. */
export async function createSelector(
  config: Given<DataSelectorConfig>,
  size: number,
  readFeatures: (keys: readonly string[]) => Promise<Float64Array[]>,
): Promise<Selector> {
  const name = config.selector_type ?? 'sequential'
  const type = selectors.get(name)
  const args = selectors.parse(name, config.kwargs, 'data_selector.kwargs')
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
  return type.create(context, args as never)
}

function feature(min: number, max: number): string {
  return `${min === max ? `exactly ${min}` : `at least ${min}`} feature key${min === 1 ? '' : 's'}`
}
