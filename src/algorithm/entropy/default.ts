import { entropyLoss } from './entropy.js'

/** Aggregated entropy of the policy at every active token. */
export const defaultEntropy = entropyLoss('entropy of all tokens', (g, aggregate) => aggregate()(g.entropy))
