import { within } from '../calls.js'
import type { Call, RewardModel } from '../contract.js'
import { checkRows, packRows, plainRow } from '../pack.js'
import { NativeModel } from './native-model.js'

/** Tokens of one packed micro-batch; activations of a reward model are small, since nothing is kept. */
const tokenBudget = 8192

/** A sequence classifier with one label: the score of a sequence is read at its last token that is not padding. */
export class NativeRewardModel extends NativeModel implements RewardModel {
  #last: Promise<unknown> = Promise.resolve()

  reward(rows: readonly Int32Array[], call: Call): Promise<Float32Array> {
    const answer = within(call, 'reward', (signal) => {
      const running = this.#last.then(() => this.#rewards(rows, signal))
      this.#last = running.catch(() => {})
      return running
    })
    return answer
  }

  async #rewards(rows: readonly Int32Array[], signal: AbortSignal): Promise<Float32Array> {
    const asRows = rows.map((tokens, i) => plainRow(unpadded(tokens, this.config.padTokenId), String(i)))
    checkRows(asRows, this.info)
    const out = new Float32Array(rows.length)
    let at = 0
    for (const pack of packRows(asRows, tokenBudget)) {
      const lengths = Int32Array.from(pack, ({ tokens }) => tokens.length)
      const ids = new Int32Array(lengths.reduce((sum, n) => sum + n, 0))
      const last = new Int32Array(pack.length)
      let end = 0
      for (const [i, { tokens }] of pack.entries()) {
        ids.set(tokens, end)
        end += tokens.length
        last[i] = end - 1
      }
      const native = {
        ids,
        lengths,
        rows: last,
        targets: new Int32Array(pack.length),
        invT: new Float32Array(pack.length).fill(1),
      }
      const { value } = await this.run(signal, () => this.addon.forward(this.handle, native, true, false))
      out.set(value!, at)
      at += pack.length
    }
    return out
  }
}

/** What pads need not be padding: where it is the end token too, Transformers reads the score before it. */
function unpadded(tokens: Int32Array, pad: number | undefined): Int32Array {
  let end = tokens.length
  while (end > 1 && tokens[end - 1] === pad) end--
  // nothing but padding: Transformers reads the first token
  return tokens.subarray(0, end)
}
