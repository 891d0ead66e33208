import { z } from 'zod'
import type { Expr, LossTrace } from '../../graph/index.js'
import type { Aggregate, RowSet } from '../aggregate.js'
import type { Entry } from '../entry.js'

/** The entropy bonus: `entropy_coef` times what `build` gives is subtracted from the loss. Absent for `none`. */
export interface EntropyLoss extends Entry {
  readonly build?: (g: LossTrace, aggregate: (set?: RowSet) => Aggregate) => Expr
}

const entropyArgs = z.strictObject({ entropy_coef: z.number().default(0).describe('Weight of the entropy bonus.') })

/** An entropy term: its line for people, and the formula; without one it is off. */
export function entropyLoss(doc: string, build?: EntropyLoss['build']): EntropyLoss {
  return { doc, args: entropyArgs, build }
}
