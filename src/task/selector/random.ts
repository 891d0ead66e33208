import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import { CountingSelector, type SelectorContext, selector } from './selector.js'

/** Every batch is a choice without repetition, drawn from seed + position; batches are independent of each other. */
class RandomSelector extends CountingSelector {
  readonly #size: number
  readonly #seed: number

  constructor({ size, seed }: SelectorContext) {
    super()
    this.#size = size
    this.#seed = seed
  }

  take(count: number): Int32Array {
    const rows = new Int32Array(count)
    // A batch larger than the data set holds every row once before any row twice.
    for (let done = 0; done < count; ) {
      const part = Math.min(count - done, this.#size)
      rows.set(new Pcg64(this.#seed + this.position).choice(this.#size, part), done)
      this.position += part
      done += part
    }
    return rows
  }
}

export const random = selector({
  doc: 'an independent random choice for every batch, no row twice in a batch',
  args: z.strictObject({}),
  features: [0, 0],
  create: (context) => new RandomSelector(context),
})
