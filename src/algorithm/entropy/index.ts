import { Registry } from '../../base/registry.js'
import { defaultEntropy } from './default.js'
import type { EntropyLoss } from './entropy.js'
import { mixEntropy } from './mix.js'
import { noEntropy } from './none.js'

export const entropyLossFns = new Registry<EntropyLoss>('entropy loss', {
  default: defaultEntropy,
  mix: mixEntropy,
  none: noEntropy,
})
