import { Registry } from '../../base/registry.js'
import { USUAL } from '../policy-loss/mixture.js'
import { type EntropyLoss, entropyLoss } from './entropy.js'

/** Entropy terms by name: H of the policy at every active token of the chosen rows, aggregated. */
export const entropyLossFns = new Registry<EntropyLoss>('entropy loss', {
  default: entropyLoss('entropy of all tokens', (g, aggregate) => aggregate()(g.entropy)),
  // the rows whose column `expert` is 0
  mix: entropyLoss('entropy of the rows that are not expert data', (g, aggregate) => aggregate(USUAL)(g.entropy)),
  none: entropyLoss('no entropy term'),
})
