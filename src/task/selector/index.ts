export { createSelector, type SelectorConfig, selectors } from './registry.js'
export {
  CountingSelector,
  type Selector,
  type SelectorContext,
  type SelectorState,
  type SelectorType,
  selector,
} from './selector.js'
