import { entropyLoss } from './entropy.js'

/** No entropy term. */
export const noEntropy = entropyLoss('no entropy term')
