import { z } from 'zod'
import { LossTrace } from '../graph/index.js'
import { aggregate } from './aggregate.js'
import type { AggMode } from './entry.js'
import { type BuiltLoss, finishLoss } from './loss.js'

export interface CriticLossConfig {
  /** How far a value may move from the one the advantages were computed with. */
  readonly cliprange_value?: number
  readonly loss_agg_mode?: AggMode | null
}

/**
 * Clipped value loss. V the new value, V_old the one of the rollout, R the return:
 *   L = ½·max((V − R)², (clip(V, V_old ± c) − R)²)
 * Metrics: vf_loss, vf_clipfrac (how often the clipped term decides), vpred_mean.
 */
export function buildCriticLoss(config: CriticLossConfig = {}): BuiltLoss {
  const range = z
    .number()
    .positive()
    .parse(config.cliprange_value ?? 0.5)
  const g = new LossTrace()
  const [before, target] = [g.column('old_value'), g.column('return')]
  const clipped = g.value.max(before.sub(range)).min(before.add(range))
  const plain = g.value.sub(target).square()
  const bounded = clipped.sub(target).square()
  const loss = aggregate(g, config.loss_agg_mode ?? 'token-mean')(plain.max(bounded).mul(0.5))
  g.metric('vf_loss', loss, { reduce: 'sum' })
  g.metric('vf_clipfrac', bounded.gt(plain).indicator())
  g.metric('vpred_mean', g.value)
  return finishLoss(g, loss)
}
