import type { TokenScores } from '../../graph/evaluate.js'
import { CallOrder } from '../calls.js'
import { checkWanted } from '../check.js'
import type { Batch, Call, Row, RowScores, ScoreKind, ScoreModel, Want } from '../contract.js'
import { ofOthers, otherTokens } from '../other-tokens.js'
import { checkRows, packRows } from '../pack.js'
import type { NativeScores } from './addon.js'
import type { Distinct } from './distinct.js'
import { NativeModel } from './native-model.js'
import { packedShared, sharedCounter, split } from './packed.js'

/** A model that scores rows. Calls run one after the other, each micro-batch off the event loop. */
export class NativeScoreModel extends NativeModel implements ScoreModel {
  protected readonly order = new CallOrder('native model')

  forward(batch: Batch, want: Want, call: Call): Promise<RowScores[]> {
    return this.order.run(call, 'forward', async (signal) => {
      checkRows(batch.rows, this.info)
      checkWanted(this.spec, want.scores)
      const scores = new Map<Row, RowScores>()
      for (const pack of packRows(batch.rows, batch.tokenBudget, 'row', sharedCounter)) {
        const { scores: own } = await this.scorePack(pack, want, false, signal)
        this.deal(pack, own, want.scores, scores)
      }
      return batch.rows.map((row) => scores.get(row)!)
    })
  }

  /** Scores of every scored token of the rows, and which of them are the same. */
  protected async scorePack(
    rows: readonly Row[],
    want: Want,
    keep: boolean,
    signal: AbortSignal,
  ): Promise<{ scores: TokenScores; distinct: Distinct }> {
    const asked = ofOthers(want.scores)
    const { pack, scores: distinct } = packedShared(
      rows,
      asked.map((kind) => otherTokens(rows, kind, this.info.vocabSize)),
    )
    const { others, ...found }: NativeScores = await this.run(signal, () =>
      this.addon.forward(this.handle, pack, want.adapter !== 'off', keep),
    )
    const scores: TokenScores = {}
    for (const [kind, part] of Object.entries(found)) scores[kind as keyof typeof found] = distinct.deal(part)
    const size = pack.rows.length
    for (const [i, kind] of asked.entries()) {
      if (others) scores[kind] = distinct.deal(others.subarray(i * size, (i + 1) * size))
    }
    return { scores, distinct }
  }

  /** Hands the scores of a pack to its rows. */
  protected deal(pack: Row[], all: TokenScores, wants: readonly ScoreKind[], into: Map<Row, RowScores>): void {
    const parts = wants.map((kind) => [kind, split(pack, all[kind] ?? new Float32Array(0))] as const)
    for (const [i, row] of pack.entries()) {
      into.set(row, { id: row.id, ...Object.fromEntries(parts.map(([kind, part]) => [kind, part[i]])) })
    }
  }
}
