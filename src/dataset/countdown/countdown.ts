import { z } from 'zod'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import { rowsOf } from '../given.js'
import type { Place } from '../place.js'
import { drawPuzzles, givenPuzzles, type Puzzle } from './puzzle.js'

const args = z.strictObject({
  train: z.int().nonnegative().default(10_000).describe('puzzles to train on'),
  test: z.int().nonnegative().default(1000).describe('others to test with'),
  sizes: z.array(z.int().min(2).max(5)).nonempty().default([3, 4]).describe('how many numbers a puzzle has'),
  max_number: z.int().min(1).max(10_000).default(100).describe('the largest number'),
  max_target: z.int().min(1).max(1_000_000).default(1000).describe('the largest target'),
  seed: z.int().nonnegative().default(42).describe('same seed, same puzzles'),
  from: z.string().default('').describe('puzzles of a file, a folder or a data set on the hub instead of new ones'),
})
type Args = z.output<typeof args>

export const countdown = dataset({
  doc: 'numbers to reach a target with + - * /, all solvable',
  source: 'generated, in the ranges of TinyZero',
  license: 'none needed',
  args,
  async prepare(given, place) {
    const { train, test } = given
    if (test > 0) await place.write('test.jsonl', some(puzzles(given, place), 0, test))
    // Behind those of the test: none is in both.
    if (train > 0) await place.write('train.jsonl', some(puzzles(given, place), test, train))
  },
  yaml: (_, folder) => `buffer:
  explorer_input:
    taskset:
      path: ${folder}
      split: train
      default_workflow_type: environment_workflow
      workflow_args: { environment: countdown }
    eval_tasksets:
      - name: countdown
        path: ${folder}
        split: test
        default_workflow_type: environment_workflow
        workflow_args: { environment: countdown }
`,
})

function puzzles({ from, ...ranges }: Args, place: Place): Iterable<Puzzle> | AsyncIterable<Puzzle> {
  if (from === '') return drawPuzzles(ranges)
  return givenPuzzles(rowsOf('countdown', { path: from, splits: ['train'] }), (text) => place.logger?.info(text))
}

/** So many rows, after so many others; fewer where there are no more. */
async function* some(rows: Iterable<Puzzle> | AsyncIterable<Puzzle>, skip: number, count: number) {
  let at = 0
  for await (const row of rows) {
    if (at++ >= skip) yield row as Puzzle & DataRow
    if (at >= skip + count) return
  }
}
