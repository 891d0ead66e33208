import './difficulty.js'
import './easy2hard.js'
import './random.js'
import './sequential.js'
import './shuffle.js'

export {
  CountingSelector,
  createSelector,
  type Selector,
  type SelectorConfig,
  type SelectorContext,
  type SelectorState,
  type SelectorType,
  selectors,
} from './selector.js'
