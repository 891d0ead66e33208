// An algorithm of your own in one file: a loss as a formula on token vectors, and a name for the whole choice.
import { z } from 'trinity-rft'
import { algorithm, algorithms, policyLoss, policyLossFns } from 'trinity-rft/algorithm'

// The ratio to the policy that sampled is bent with tanh instead of being cut off: the gradient fades and never stops dead.
policyLossFns.add(
  'soft_clip',
  policyLoss({
    doc: 'policy gradient with a ratio that saturates at 1 ± width',
    args: z.strictObject({ width: z.number().positive().default(0.5) }),
    build(g, { width }, { agg }) {
      const advantage = g.column('advantage')
      const ratio = g.logprob.sub(g.column('old')).exp()
      // tanh(x) = 2·sigmoid(2x) − 1
      const bent = ratio
        .sub(1)
        .mul(2 / width)
        .sigmoid()
        .mul(2)
        .sub(1)
        .mul(width)
        .add(1)
      g.metric('ratio', ratio)
      return agg(bent.mul(advantage).neg())
    },
  }),
)

algorithms.add(
  'soft_grpo',
  algorithm('GRPO with a soft clip', [], {
    advantage_fn: 'grpo',
    policy_loss_fn: 'soft_clip',
    kl_loss_fn: 'none',
    repeat_times: 8,
  }),
)
