// A reward that differs from answer to answer for any model, the first example of TRL's own pages: how many letters an
// answer uses. So every group of the benchmark has a gradient, and nothing can be left out.
import { rewardFn, rewardFns, z } from 'trinity-rft'

rewardFns.add(
  'letters',
  rewardFn({
    doc: 'number of different letters',
    args: z.strictObject({}),
    score: ({ response }) => ({ score: new Set(response.replace(/[^\p{L}]/gu, '')).size }),
  }),
)
