import { z } from 'zod'
import { type SelectorContext, selector } from './selector.js'
import { OrderedSelector } from './sequential.js'

/** Rows by falling features (a high pass rate is an easy task); of equal rows the later one comes first. */
function easyFirst({ size, features }: SelectorContext): Int32Array {
  const order = Int32Array.from({ length: size }, (_, i) => i)
  return order.sort((a, b) => {
    for (const feature of features) if (feature[a] !== feature[b]) return feature[b] - feature[a]
    return b - a
  })
}

export const offlineEasy2Hard = selector({
  doc: 'rows sorted by their feature columns, highest (easiest) first',
  args: z.strictObject({}),
  features: [1, Number.MAX_SAFE_INTEGER],
  create: (context) => {
    const order = easyFirst(context)
    return new OrderedSelector(context.size, (i) => order[i])
  },
})
