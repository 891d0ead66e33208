import { TrinityError } from '../base/error.js'
import { columnOf } from './column.js'
import type { RowSource } from './source/row-source.js'

/** The numbers in some columns, read in one pass over the data. */
export async function readFeatures(source: RowSource, keys: readonly string[]): Promise<Float64Array[]> {
  const features = keys.map(() => new Float64Array(source.length))
  let row = 0
  for await (const record of source.scan()) {
    for (const [i, key] of keys.entries()) {
      const value = columnOf(record, key)
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      if (typeof number !== 'number' || Number.isNaN(number)) {
        throw new TrinityError(
          'task/feature',
          `the column '${key}' holds ${JSON.stringify(value) ?? 'nothing'}, not a number`,
          {
            path: await source.where(row),
            hint:
              columnOf(record, key) !== undefined
                ? undefined
                : `columns of this row: ${Object.keys(record).join(', ')}`,
          },
        )
      }
      features[i][row] = number
    }
    row++
  }
  return features
}
