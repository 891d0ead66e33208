import { z } from 'zod'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import { drawPuzzles } from './puzzle.js'

const args = z.strictObject({
  train: z.int().nonnegative().default(10_000),
  test: z.int().nonnegative().default(1000),
  /** How many numbers a puzzle has. */
  sizes: z.array(z.int().min(2).max(5)).nonempty().default([3, 4]),
  max_number: z.int().min(1).max(10_000).default(100),
  max_target: z.int().min(1).max(1_000_000).default(1000),
  seed: z.int().nonnegative().default(42),
})

export const countdown = dataset({
  doc: 'numbers to reach a target with + - * /, all solvable',
  source: 'generated, in the ranges of TinyZero',
  license: 'none needed',
  args,
  async prepare({ train, test, ...ranges }, place) {
    if (test > 0) await place.write('test.jsonl', some(drawPuzzles(ranges), 0, test))
    // Behind those of the test: none is in both.
    if (train > 0) await place.write('train.jsonl', some(drawPuzzles(ranges), test, train))
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

/** So many rows, after so many others. */
function* some<T extends object>(rows: Iterable<T>, skip: number, count: number): Iterable<DataRow> {
  let at = 0
  for (const row of rows) {
    if (at >= skip + count) return
    if (at++ >= skip) yield row as unknown as DataRow
  }
}
