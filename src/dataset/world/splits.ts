import { TrinityError } from '../../base/error.js'
import type { DataRow } from '../../task/index.js'
import type { Place } from '../place.js'

export interface Counts {
  readonly train: number
  readonly test: number
}

/** The first rows are for the test, those behind them for training: none is in both. */
export async function writeSplits(place: Place, { train, test }: Counts, rows: () => Iterable<DataRow>): Promise<void> {
  if (test > 0) await place.write('test.jsonl', part(rows(), 0, test))
  if (train > 0) await place.write('train.jsonl', part(rows(), test, train))
}

export function splitsOf({ train, test }: Counts): string[] {
  return [...(train > 0 ? ['train'] : []), ...(test > 0 ? ['test'] : [])]
}

function* part<T>(rows: Iterable<T>, skip: number, count: number): Iterable<T> {
  let at = 0
  for (const row of rows) {
    if (at++ >= skip) yield row
    if (at >= skip + count) return
  }
}

/** Draws in a row that may be the same as before, or nothing. */
const PATIENCE = 2000

/** Rows that differ from each other, drawn from the seeds after `seed`; undefined: this one is not wanted. */
export function* distinct<T extends DataRow>(
  what: string,
  seed: number,
  draw: (seed: number) => T | undefined,
): Iterable<T> {
  const seen = new Set<string>()
  for (let at = 0, last = 0; at - last < PATIENCE; at++) {
    const row = draw(seed * 1_000_000 + at)
    const key = JSON.stringify(row)
    if (row === undefined || seen.has(key)) continue
    seen.add(key)
    last = at
    yield row
  }
  throw new TrinityError(
    'dataset/exhausted',
    `there are hardly more than ${seen.size} different ${what} with these options`,
    {
      hint: 'ask for fewer, or for a wider range',
    },
  )
}
