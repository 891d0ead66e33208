import { USUAL } from '../policy-loss/mixture.js'
import { entropyLoss } from './entropy.js'

/** Aggregated entropy over the rows that are not expert data (row column `expert` = 0). */
export const mixEntropy = entropyLoss('entropy of the rows that are not expert data', (g, aggregate) =>
  aggregate(USUAL)(g.entropy),
)
