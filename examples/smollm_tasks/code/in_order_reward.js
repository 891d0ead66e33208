// 1 if the numbers up to the end of the first line are those of the answer, in its order.
import { rewardFn, rewardFns, z } from 'trinity-rft'

const numbers = (text) => (text.split(/[\]\n]/, 1)[0]?.match(/-?\d+/g) ?? []).join()

rewardFns.add(
  'in_order_reward',
  rewardFn({
    doc: '1 for the numbers of the answer in its order, and nothing more on the first line.',
    args: z.strictObject({}),
    score: ({ response, truth }) => ({ accuracy: numbers(response) === numbers(String(truth)) ? 1 : 0 }),
  }),
)
