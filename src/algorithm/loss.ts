import { type Expr, graphInputs, type Loss, LossTrace, makeLoss } from '../graph/index.js'
import { aggregate, type RowSet } from './aggregate.js'
import { entropyLossFns } from './entropy/registry.js'
import type { AggMode } from './entry.js'
import type { KlArgs } from './kl/kl.js'
import { klFns } from './kl/registry.js'
import { policyLossFns } from './policy-loss/registry.js'

/** The part of the `algorithm` section that makes up a loss. Missing arguments take their defaults. */
export interface LossConfig {
  readonly policy_loss_fn: string
  readonly policy_loss_fn_args?: Readonly<Record<string, unknown>> | null
  readonly kl_loss_fn?: string
  readonly kl_loss_fn_args?: Readonly<Record<string, unknown>> | null
  readonly entropy_loss_fn?: string
  readonly entropy_loss_fn_args?: Readonly<Record<string, unknown>> | null
  /** How per-token losses become one number, unless a function's own arguments say otherwise. */
  readonly loss_agg_mode?: AggMode | null
}

/** A loss and the row inputs it needs. */
export interface BuiltLoss extends Loss {
  readonly columns: readonly { readonly name: string; readonly shape: 'token' | 'row' }[]
}

/**
 * Total loss of the policy: policy − entropy_coef·H + kl_coef·KL, as one graph.
 * `klCoef` gives the coefficient of the moment (adaptive control); the default is the configured one.
 */
export function buildLoss(config: LossConfig, options: { klCoef?: () => number } = {}): BuiltLoss {
  const g = new LossTrace()
  const mode = config.loss_agg_mode ?? undefined
  const over = (wanted: AggMode | null | undefined, set?: RowSet) => aggregate(g, wanted ?? 'token-mean', set)

  const policy = policyLossFns.get(config.policy_loss_fn)
  const policyArgs = policyLossFns.parse(
    config.policy_loss_fn,
    config.policy_loss_fn_args,
    'algorithm.policy_loss_fn_args',
  )
  const own = (policyArgs.loss_agg_mode as AggMode | null | undefined) ?? mode ?? policy.loss_agg_mode
  let total = policy.build(g, policyArgs, { agg: over(own), aggregate: (m, set) => over(m ?? own, set) })

  const entropyName = config.entropy_loss_fn ?? 'none'
  const entropy = entropyLossFns.get(entropyName)
  if (entropy.build) {
    const given = config.entropy_loss_fn_args
    const { entropy_coef } = entropyLossFns.parse(entropyName, given, 'algorithm.entropy_loss_fn_args')
    const value = entropy.build(g, (set) => over(mode, set))
    g.metric('entropy_loss', value, { reduce: 'sum' })
    if (entropy_coef !== 0) total = total.sub(value.mul(entropy_coef as number))
  }

  const klName = config.kl_loss_fn ?? 'none'
  const kl = klFns.get(klName)
  if (kl.formula) {
    const args = klFns.parse(klName, config.kl_loss_fn_args, 'algorithm.kl_loss_fn_args') as unknown as KlArgs
    const value = over(mode)(kl.formula({ logprob: g.logprob, ref: g.column('ref'), old: () => g.column('old') }))
    const coef = g.norm('kl_coef', options.klCoef ?? (() => args.kl_coef))
    g.metric('kl_loss', value, { reduce: 'sum' })
    g.metric('kl_coef', coef)
    total = total.add(value.mul(coef))
  }
  g.metric('final_loss', total, { reduce: 'sum' })
  return finishLoss(g, total)
}

/** Closes a trace and lists every column that its graph or its normalisers read. */
export function finishLoss(g: LossTrace, total: Expr): BuiltLoss {
  const graph = g.finish(total)
  const columns = [...graphInputs(graph).columns]
  for (const name of g.reads) {
    if (!columns.some((column) => column.name === name)) columns.push({ name, shape: 'row' })
  }
  return { ...makeLoss(graph, g.norms), columns }
}
