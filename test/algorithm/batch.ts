import type { LossRow, Scores } from '../../src/graph/index.js'
import { Mt19937 } from './random.js'

/** A batch for a loss: rows and scores that belong together. */
export interface TestBatch {
  rows: LossRow[]
  scores: Required<Scores>
}

const ROWS = 5
const WIDTH = 20

/** The inputs that the published numbers were computed from: 5 rows of 20 tokens, seed 42. */
export function publishedBatch(): TestBatch {
  const random = new Mt19937(42)
  const draw = () => random.rand(ROWS * WIDTH)
  const signed = () => draw().map((x) => Math.fround(2 * x) - 1)
  const [logprob, old, ref] = [signed(), signed(), signed()]
  const mask = Uint8Array.from(draw(), (x) => (x > 0.5 ? 1 : 0))
  const advantage = signed()
  const expert = [...random.rand(ROWS)].map((x) => (x > 0.5 ? 1 : 0))
  const cut = <T extends { slice(from: number, to: number): T }>(all: T, r: number) =>
    all.slice(r * WIDTH, (r + 1) * WIDTH)
  const rows = Array.from({ length: ROWS }, (_, r) => ({
    mask: cut(mask, r),
    columns: { old: cut(old, r), ref: cut(ref, r), advantage: cut(advantage, r), expert: expert[r], step: 7 },
  }))
  return { rows, scores: { logprob, entropy: draw(), value: signed() } }
}
