import type { LossRow } from '../../src/graph/index.js'
import { Mt19937 } from './random.js'

/** What every loss of ours reads. */
export type TestScores = Record<'logprob' | 'entropy' | 'value', Float32Array>

/** A batch for a loss: rows and scores that belong together. */
export interface TestBatch {
  rows: LossRow[]
  scores: TestScores
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
  const scores = { logprob, entropy: draw(), value: signed() }
  const noise = draw()
  const cut = <T extends { slice(from: number, to: number): T }>(all: T, r: number) =>
    all.slice(r * WIDTH, (r + 1) * WIDTH)
  const rows = Array.from({ length: ROWS }, (_, r) => ({
    mask: cut(mask, r),
    columns: {
      old: cut(old, r),
      ref: cut(ref, r),
      advantage: cut(advantage, r),
      noise: cut(noise, r),
      expert: expert[r],
      step: 7,
    },
  }))
  return { rows, scores }
}

/** Rows of mixed length with random masks, all columns that built-in losses read, and pairs in bundles. */
export function randomBatch(seed: number, pairs = 4): TestBatch {
  const random = new Mt19937(seed)
  const one = () => random.next()
  // apart from the others, whose numbers tests know
  const noise = new Mt19937(seed + 1)
  const rows: LossRow[] = []
  const flat: Record<'logprob' | 'entropy' | 'value', number[]> = { logprob: [], entropy: [], value: [] }
  for (let r = 0; r < 2 * pairs; r++) {
    const length = 1 + Math.floor(one() * 9)
    const draw = (low: number, high: number) => Float32Array.from({ length }, () => low + (high - low) * one())
    const mask = Uint8Array.from({ length }, () => (one() > 0.3 ? 1 : 0))
    flat.logprob.push(...draw(-2, -0.05))
    flat.entropy.push(...draw(0, 2))
    flat.value.push(...draw(-1, 1))
    rows.push({
      mask,
      bundle: `pair ${r >> 1}`,
      group: r < 3 ? 'first' : r < 7 ? 'second' : undefined,
      columns: {
        noise: Float32Array.from({ length }, () => noise.next()),
        old: draw(-2, -0.05),
        ref: draw(-2, -0.05),
        advantage: draw(-1.5, 1.5),
        return: draw(-1, 1),
        old_value: draw(-1, 1),
        expert: one() > 0.6 ? 1 : 0,
        off_policy: one() > 0.5 ? 1 : 0,
        chosen: r % 2 === 0 ? 1 : 0,
        step: 7,
      },
    })
  }
  const scores = {
    logprob: Float32Array.from(flat.logprob),
    entropy: Float32Array.from(flat.entropy),
    value: Float32Array.from(flat.value),
  }
  return { rows, scores }
}

/** Scores of some rows, cut out of those of all. */
export function scoresOf({ rows, scores }: TestBatch, chosen: readonly number[]): TestScores {
  const starts: number[] = []
  rows.reduce((at, row) => {
    starts.push(at)
    return at + row.mask.length
  }, 0)
  const cut = (all: Float32Array) =>
    Float32Array.from(chosen.flatMap((r) => [...all.subarray(starts[r], starts[r] + rows[r].mask.length)]))
  return { logprob: cut(scores.logprob), entropy: cut(scores.entropy), value: cut(scores.value) }
}
