import type { z } from 'zod'
import type { Expr, LossTrace } from '../../graph/index.js'
import type { Aggregate, RowSet } from '../aggregate.js'
import type { AggMode, Entry } from '../entry.js'

/** What a loss may use besides its trace. */
export interface PolicyLossContext {
  /** Aggregation as configured. */
  readonly agg: Aggregate
  /** The mean over rows, for a loss that is one number per row. */
  readonly aggRows: Aggregate
  /** Aggregation of one part: `mode` if it is set, else as configured; over some rows only. */
  aggregate(mode: AggMode | null, set?: RowSet): Aggregate
}

/** The policy term of a loss. `build` writes the formula down and declares its metrics; it gives one number. */
export interface PolicyLoss extends Entry {
  /** Aggregation when neither the arguments nor the algorithm say anything, also by its other arguments; `token-mean` if absent. */
  readonly loss_agg_mode?: AggMode | ((args: Record<string, unknown>) => AggMode | undefined)
  build(g: LossTrace, args: Record<string, unknown>, context: PolicyLossContext): Expr
}

/**
 * Describes a policy loss for the registry; `build` gets its arguments checked and with their types.
 * @example
 * import { z } from 'trinity-rft'
 * import { policyLoss, policyLossFns } from 'trinity-rft/algorithm'
 *
 * policyLossFns.add('margin', policyLoss({
 *   doc: 'policy gradient on advantages above a margin',
 *   args: z.strictObject({ margin: z.number().default(0.1) }),
 *   build: (g, { margin }, { agg }) => agg(g.column('advantage').sub(margin).max(0).mul(g.logprob).neg()),
 * }))
 */
export function policyLoss<S extends z.ZodObject>(
  loss: Omit<PolicyLoss, 'args' | 'build' | 'loss_agg_mode'> & {
    args: S
    loss_agg_mode?: AggMode | ((args: z.output<S>) => AggMode | undefined)
    build(g: LossTrace, args: z.output<S>, context: PolicyLossContext): Expr
  },
): PolicyLoss {
  return loss as unknown as PolicyLoss
}

/** Reports an aggregated loss under its name and gives it back. */
export function report(g: LossTrace, name: string, loss: Expr): Expr {
  g.metric(name, loss, { reduce: 'sum' })
  return loss
}
