import type { TasksetConfig } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import type { Scope } from './scope.js'

type Selector = TasksetConfig['data_selector']

export function resolveSelector(given: Selector, key: string, scope: Scope): Selector {
  const type = given.selector_type ?? 'sequential'
  const { selectors } = scope.catalog
  const component = selectors.find(type)
  if (!component) {
    scope.unknownName(`${key}.selector_type`, 'selector', type, selectors)
    return { ...given, selector_type: type }
  }
  const [least, most] = component.features ?? [0, 0]
  const count = given.feature_keys.length
  if (count < least || (most > 0 && count > most)) {
    const number = least === most ? `exactly ${least}` : `at least ${least}`
    scope.error('value', `${key}.feature_keys`, `${type} needs ${number} columns, found ${count}`)
  }
  return { ...given, selector_type: type, kwargs: resolveArguments(component, given.kwargs, `${key}.kwargs`, scope) }
}
