import { z } from 'zod'
import { CountingSelector, selector } from './selector.js'

/** Rows in a given order, again and again. */
export class OrderedSelector extends CountingSelector {
  readonly #order: (i: number) => number
  readonly #size: number

  constructor(size: number, order: (i: number) => number) {
    super()
    this.#size = size
    this.#order = order
  }

  take(count: number): Int32Array {
    const rows = new Int32Array(count)
    for (let i = 0; i < count; i++) rows[i] = this.#order(this.position++ % this.#size)
    return rows
  }
}

export const sequential = selector({
  doc: 'rows in their order, starting over after the last',
  args: z.strictObject({}),
  features: [0, 0],
  create: ({ size }) => new OrderedSelector(size, (i) => i),
})
