import type { TrainerTree } from '../config/index.js'
import { LossTrace } from '../graph/index.js'
import { aggregate, rowCount } from './aggregate.js'
import { type BuiltLoss, finishLoss } from './loss.js'

type CriticLossConfig = Partial<Pick<TrainerTree['critic'], 'cliprange_value' | 'loss_agg_mode'>>

/**
 * Clipped value loss. V the new value, V_old the one of the rollout, R the return:
 *   L = ½·max((V − R)², (clip(V, V_old ± c) − R)²)
 * `seq-mean-token-sum-norm` is veRL's here, the mean over rows of Σ / width: B times smaller than the policy's mode of
 * that name. Metrics: vf_loss, vf_clipfrac (how often the clipped term decides), vpred_mean.
 */
export function buildCriticLoss(config: CriticLossConfig = {}): BuiltLoss {
  const { cliprange_value: range = 0.5, loss_agg_mode = 'token-mean' } = config
  const g = new LossTrace()
  const [before, target] = [g.column('old_value'), g.column('return')]
  const clipped = g.value.max(before.sub(range)).min(before.add(range))
  const plain = g.value.sub(target).square()
  const bounded = clipped.sub(target).square()
  const sum = aggregate(g, loss_agg_mode)(plain.max(bounded).mul(0.5))
  const loss = loss_agg_mode === 'seq-mean-token-sum-norm' ? sum.div(rowCount(g)) : sum
  g.metric('vf_loss', loss, { reduce: 'sum' })
  g.metric('vf_clipfrac', bounded.gt(plain).indicator())
  g.metric('vpred_mean', g.value)
  return finishLoss(g, loss)
}
