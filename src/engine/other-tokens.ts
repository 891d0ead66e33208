import { TrinityError } from '../base/error.js'
import { tokenColumn } from '../graph/evaluate.js'
import { idColumn } from '../graph/loss.js'
import type { Row, ScoreKind } from './contract.js'

/** The scores that are of other tokens than the rows' own. */
export function ofOthers(kinds: readonly ScoreKind[]): ScoreKind[] {
  return kinds.filter((kind) => idColumn(kind) !== undefined)
}

/** The ids that such a score is of, one for each scored token of the rows; 0 where the token takes no part. */
export function otherTokens(rows: readonly Row[], kind: ScoreKind, vocabSize: number): Int32Array {
  const name = idColumn(kind)!
  const ids = new Int32Array(rows.reduce((sum, { mask }) => sum + mask.length, 0))
  let at = 0
  for (const [r, row] of rows.entries()) {
    const column = tokenColumn(row, r, name)
    for (let i = 0; i < row.mask.length; i++, at++) {
      if (row.mask[i] === 0) continue
      const id = column[i]
      if (!(Number.isInteger(id) && id >= 0 && id < vocabSize)) throw noToken(row, name, id, vocabSize)
      ids[at] = id
    }
  }
  return ids
}

function noToken({ id: row }: Row, name: string, id: number, vocabSize: number): TrinityError {
  return new TrinityError('engine/bad-row', `row '${row}': column '${name}' holds ${id}, which is no token`, {
    path: row,
    hint: `the loss takes log-probs of the tokens in it: ids from 0 to ${vocabSize - 1}`,
  })
}
