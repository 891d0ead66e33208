import { stat } from 'node:fs/promises'
import { TrinityError } from '../base/error.js'
import { openDataset } from '../task/source/dataset.js'
import type { DataRow } from '../task/source/row-source.js'
import type { Columns } from './columns.js'

/** What a file of questions and answers begins with, and how long it is. */
export interface DataFile {
  readonly path: string
  readonly columns: readonly string[]
  readonly length: number
  readonly first: readonly { readonly row: DataRow; readonly where: string }[]
}

/** Rows that are looked at: what is wrong with a file as a whole shows in its first ones. */
const LOOKED_AT = 20

/** Reads the beginning of a file as a run would. */
export async function readDataFile(path: string): Promise<DataFile> {
  const kind = await stat(path).catch(() => undefined)
  if (!kind?.isFile()) {
    const text = kind ? `${path} is a folder, not a file` : `there is no file ${path}`
    throw new TrinityError('init/data', text, {
      path: '--data',
      hint: 'give the path of a .jsonl, .csv or .parquet file',
    })
  }
  const rows = await openDataset({ path })
  try {
    const first: { row: DataRow; where: string }[] = []
    for (let i = 0; i < Math.min(rows.length, LOOKED_AT); i++) {
      first.push({ row: await rows.row(i), where: await rows.where(i) })
    }
    return { path, columns: Object.keys(first[0].row), length: rows.length, first }
  } finally {
    await rows.close()
  }
}

/** A question or an answer that is empty cannot be learned from. */
export function checkRows({ first }: DataFile, { prompt, response }: Columns): void {
  for (const { row, where } of first) {
    for (const [what, column] of [
      ['question', prompt],
      ['answer', response],
    ]) {
      if (String(row[column] ?? '').trim() !== '') continue
      const text = `this row has no ${what}: ${column} is ${Object.hasOwn(row, column) ? 'empty' : 'missing'}`
      throw new TrinityError('init/data', text, { path: where, hint: `fill it in, or remove the row` })
    }
  }
}
