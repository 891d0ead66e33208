import { TrinityError } from '../base/error.js'
import { type Config, type Given, preferredMode } from '../config/index.js'
import { type Expr, graphInputs, type Loss, type LossTrace, makeLoss } from '../graph/index.js'
import { aggregate, aggregateRows, type RowSet } from './aggregate.js'
import { building } from './building.js'
import { PlacedTrace } from './column-places.js'
import { entropyLossFns } from './entropy/registry.js'
import type { AggMode } from './entry.js'
import type { KlArgs } from './kl/kl.js'
import { klFns } from './kl/registry.js'
import { policyLossFns } from './policy-loss/registry.js'

type Algorithm = Config['algorithm']
type LossKeys = 'policy_loss_fn' | 'kl_loss_fn' | 'entropy_loss_fn'

/** The part of the `algorithm` section that makes up a loss. Missing arguments take their defaults. */
export type LossConfig = Given<Pick<Algorithm, LossKeys | `${LossKeys}_args` | 'loss_agg_mode'>>

/** A loss and the row inputs it needs. */
export interface BuiltLoss extends Loss {
  readonly columns: readonly LossColumn[]
}

export interface LossColumn {
  readonly name: string
  readonly shape: 'token' | 'row'
  /** The line that asked for it. */
  readonly place?: string
}

export interface LossOptions {
  /** The coefficient of the KL at the moment (adaptive control); the default is the configured one. */
  readonly klCoef?: () => number
  /** Divisor of `seq-mean-token-sum-norm`, in place of the length of the longest row. */
  readonly scale?: number
}

/** Total loss of the policy: policy − entropy_coef·H + kl_coef·KL, as one graph. */
export function buildLoss(config: LossConfig, options: LossOptions = {}): BuiltLoss {
  const g = new PlacedTrace()
  const mode = config.loss_agg_mode ?? undefined
  const over = (wanted: AggMode | null | undefined, set?: RowSet) =>
    aggregate(g, wanted ?? 'token-mean', set, options.scale)

  const { policy_loss_fn: name } = config
  if (name == null)
    throw new TrinityError('algorithm/loss', 'there is no policy loss', { path: 'algorithm.policy_loss_fn' })
  const policy = policyLossFns.get(name)
  const policyArgs = policyLossFns.parse(name, config.policy_loss_fn_args, 'algorithm.policy_loss_fn_args')
  const own = (policyArgs.loss_agg_mode as AggMode | null | undefined) ?? mode ?? preferredMode(policy, policyArgs)
  const context = {
    agg: over(own),
    aggRows: aggregateRows(g),
    aggregate: (m: AggMode | null, set?: RowSet) => over(m ?? own, set),
  }
  let total = building('policy loss', name, 'algorithm.policy_loss_fn', () => policy.build(g, policyArgs, context))
  if (total?.shape !== 'scalar') {
    const what = total === undefined ? 'nothing' : `a ${total.shape} value`
    throw new TrinityError('graph/invalid', `policy loss '${name}' gives ${what}, but a loss is one number`, {
      path: 'algorithm.policy_loss_fn',
      hint: 'pass token values to agg and row values to aggRows, and return the result',
    })
  }

  const entropyName = config.entropy_loss_fn ?? 'none'
  const entropy = entropyLossFns.get(entropyName)
  if (entropy.build) {
    const given = config.entropy_loss_fn_args
    const { entropy_coef } = entropyLossFns.parse(entropyName, given, 'algorithm.entropy_loss_fn_args')
    const build = entropy.build
    const value = building('entropy loss', entropyName, 'algorithm.entropy_loss_fn', () =>
      build(g, (set) => over(mode, set)),
    )
    g.metric('entropy_loss', value, { reduce: 'sum' })
    if (entropy_coef !== 0) total = total.sub(value.mul(entropy_coef as number))
  }

  const klName = config.kl_loss_fn ?? 'none'
  const kl = klFns.get(klName)
  if (kl.formula) {
    const args = klFns.parse(klName, config.kl_loss_fn_args, 'algorithm.kl_loss_fn_args') as unknown as KlArgs
    const formula = kl.formula
    const value = building('KL function', klName, 'algorithm.kl_loss_fn', () =>
      over(mode)(formula({ logprob: g.logprob, ref: g.column('ref'), old: () => g.column('old') })),
    )
    const coef = g.norm('kl_coef', options.klCoef ?? (() => args.kl_coef))
    g.metric('kl_loss', value, { reduce: 'sum' })
    g.metric('kl_coef', coef)
    total = total.add(value.mul(coef))
  }
  g.metric('final_loss', total, { reduce: 'sum' })
  return finishLoss(g, total)
}

/** Closes a trace and lists every column that its graph or its normalizers read. */
export function finishLoss(g: LossTrace, total: Expr): BuiltLoss {
  const graph = g.finish(total)
  const places = g instanceof PlacedTrace ? g.places : undefined
  const columns: LossColumn[] = graphInputs(graph).columns.map((one) => ({ ...one, place: places?.get(one.name) }))
  for (const name of g.reads) {
    if (!columns.some((column) => column.name === name)) columns.push({ name, shape: 'row' })
  }
  return { ...makeLoss(graph, g.norms), columns }
}
