import { within } from '../calls.js'
import type { Call, RewardModel } from '../contract.js'
import { checkRows, plainRow } from '../pack.js'
import { TorchModel } from './worker-model.js'

/** Tokens of one packed micro-batch; activations of a reward model are small, since nothing is kept. */
export const REWARD_TOKENS = 32_768

/** A sequence classifier with one label: the score of a sequence is read at its last token. */
export class TorchRewardModel extends TorchModel implements RewardModel {
  reward(rows: readonly Int32Array[], call: Call): Promise<Float32Array> {
    return within(call, 'reward', async (signal) => {
      checkRows(
        rows.map((tokens, i) => plainRow(tokens, String(i))),
        this.info,
      )
      const tokens = new Int32Array(rows.reduce((sum, row) => sum + row.length, 0))
      let at = 0
      for (const row of rows) {
        tokens.set(row, at)
        at += row.length
      }
      const lengths = Int32Array.from(rows, (row) => row.length)
      const answer = await this.ask('reward', { tokenBudget: REWARD_TOKENS }, signal, { tokens, lengths })
      return (answer.tensors.get('reward')?.data as Float32Array | undefined) ?? new Float32Array(0)
    })
  }
}
