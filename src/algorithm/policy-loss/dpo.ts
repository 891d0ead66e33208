import { z } from 'zod'
import type { LossRow } from '../../graph/index.js'
import { fraction, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * DPO, per pair. With sums over the tokens of each answer,
 *   z = (logp_chosen − ref_chosen) − (logp_rejected − ref_rejected)
 *   L = −(1 − ε)·logσ(β·z) − ε·logσ(−β·z),  averaged over pairs.
 *
 * The two rows of a pair share a bundle; the row column `chosen` is 1 or 0.
 */
export const dpo = policyLoss({
  doc: 'direct preference optimization, one margin per pair',
  args: z.strictObject({
    beta: positive.default(0.1).describe('How far the policy may leave the reference: the smaller, the further.'),
    label_smoothing: fraction.default(0).describe('Share of preferences that may be wrong.'),
  }),
  build(g, args) {
    const chosen = g.rowColumn('chosen').eq(1)
    const gain = g.logprob.sub(g.column('ref')).rowSum()
    const margin = chosen.where(gain, gain.neg()).bundleSum().mul(args.beta)
    const yes = margin.logSigmoid().mul(1 - args.label_smoothing)
    const no = margin.neg().logSigmoid().mul(args.label_smoothing)
    // Both rows of a pair know the margin; the chosen one stands for the pair.
    const perPair = chosen.where(yes.add(no).neg(), 0)
    const isChosen = chosen.indicator()
    g.metric('chosen_reward', gain.mul(args.beta), { weight: isChosen })
    g.metric('rejected_reward', gain.mul(args.beta), { weight: isChosen.neg().add(1) })
    g.metric('accuracy_mean', margin.gt(0).indicator(), { weight: isChosen })
    return report(g, 'dpo_loss', perPair.total().div(g.norm('pairs', pairs)))
  },
})

const pairs = (rows: readonly LossRow[]) => Math.max(1, rows.filter((row) => row.columns.chosen === 1).length)
