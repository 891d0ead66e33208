import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import { CountingSelector, type SelectorContext, selector } from './selector.js'

/** A new permutation for every epoch, drawn from seed + epoch; a batch may span two epochs. */
class ShuffleSelector extends CountingSelector {
  readonly #size: number
  readonly #seed: number
  #order?: Int32Array
  #epoch = -1

  constructor({ size, seed }: SelectorContext) {
    super()
    this.#size = size
    this.#seed = seed
  }

  take(count: number): Int32Array {
    const rows = new Int32Array(count)
    for (let i = 0; i < count; i++) {
      const order = this.#orderOf(Math.floor(this.position / this.#size))
      rows[i] = order[this.position++ % this.#size]
    }
    return rows
  }

  #orderOf(epoch: number): Int32Array {
    if (!this.#order || this.#epoch !== epoch) {
      this.#order = new Pcg64(this.#seed + epoch).permutation(this.#size)
      this.#epoch = epoch
    }
    return this.#order
  }
}

export const shuffle = selector({
  doc: 'every row once per epoch, in a new order each epoch',
  args: z.strictObject({}),
  features: [0, 0],
  create: (context) => new ShuffleSelector(context),
})
