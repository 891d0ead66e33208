import { CallOrder } from '../calls.js'
import { checkWanted } from '../check.js'
import type { Batch, Call, RowScores, ScoreModel, Want } from '../contract.js'
import { checkRows } from '../pack.js'
import { dealScores, idTensors, rowTensors } from './rows.js'
import { TorchModel } from './worker-model.js'

/** A model that scores rows. Calls run one after the other. */
export class TorchScoreModel extends TorchModel implements ScoreModel {
  protected readonly order = new CallOrder('torch model')

  forward({ rows, tokenBudget }: Batch, want: Want, call: Call): Promise<RowScores[]> {
    return this.order.run(call, 'forward', async (signal) => {
      checkRows(rows, this.info)
      checkWanted(this.spec, want.scores)
      const ids = idTensors(want.scores, rows, this.info.vocabSize)
      const args = { wants: want.scores, adapter: want.adapter !== 'off', tokenBudget, columns: ids.shapes }
      const { tensors } = await this.ask('forward', args, signal, { ...rowTensors(rows), ...ids.tensors })
      return dealScores(rows, want.scores, tensors)
    })
  }
}
