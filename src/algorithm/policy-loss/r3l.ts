import { z } from 'zod'
import { aggMode, atLeast0 } from '../entry.js'
import { EXPERT, USUAL } from './mixture.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * R3L as its paper has it: −A·logp over the attempts, each by its own length, and −logp over what is imitated (row column
 * `expert` = 1), each averaged over its own rows. No ratio, no clipping: old log-probs are not used.
 */
export const r3l = policyLoss({
  doc: 'policy gradient on attempts plus SFT on verified reflections and retries (R3L)',
  loss_agg_mode: 'seq-mean-token-mean',
  args: z.strictObject({
    sft_coef: atLeast0.default(1).describe('Weight of what is imitated.'),
    loss_agg_mode: aggMode,
  }),
  build(g, { sft_coef }, { aggregate }) {
    const attempts = report(g, 'pg_loss', aggregate(null, USUAL)(g.column('advantage').mul(g.logprob).neg()))
    const examples = report(g, 'sft_loss', aggregate(null, EXPERT)(g.logprob.neg()))
    return attempts.add(examples.mul(sft_coef))
  },
})
