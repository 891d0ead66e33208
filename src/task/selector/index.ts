export { createSelector } from './create.js'
export { selectors } from './registry.js'
export {
  CountingSelector,
  type Selector,
  type SelectorContext,
  type SelectorState,
  type SelectorType,
  selector,
} from './selector.js'
