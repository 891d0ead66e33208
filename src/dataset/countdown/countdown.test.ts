import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { readArithmetic } from '../../reward/arithmetic.js'
import { rewardFns } from '../../reward/index.js'
import { drawPuzzles, keyOf, type Puzzle } from './puzzle.js'
import { solve } from './solve.js'

function take(count: number, puzzles: Iterable<Puzzle>): Puzzle[] {
  const taken: Puzzle[] = []
  for (const puzzle of puzzles) if (taken.push(puzzle) === count) break
  return taken
}
const RANGES = { sizes: [3, 4], max_number: 100, max_target: 1000, seed: 42 }

describe('drawPuzzles', () => {
  it('all are in the ranges, solvable, different, and the same for the same seed', async () => {
    const puzzles = take(300, drawPuzzles(RANGES))
    const reward = rewardFns.get('countdown_reward')
    for (const { nums, target, solution } of puzzles) {
      expect([3, 4]).toContain(nums.length)
      expect(Math.min(...nums, target)).toBeGreaterThan(0)
      expect([Math.max(...nums) <= 100, target <= 1000]).toEqual([true, true])
      const response = `<answer>${solution}</answer>`
      expect(await reward.score({ response, truth: { nums, target } } as never, {} as never)).toEqual({ score: 1 })
    }
    expect(new Set(puzzles.map(({ nums, target }) => keyOf(nums, target))).size).toBe(300)
    expect(take(300, drawPuzzles(RANGES))).toEqual(puzzles)
    expect(take(300, drawPuzzles({ ...RANGES, seed: 1 }))).not.toEqual(puzzles)
  })

  it('says so when the ranges hold no more', () => {
    const few = { sizes: [2], max_number: 2, max_target: 4, seed: 0 }
    expect(() => take(100, drawPuzzles(few))).toThrow(/hardly more than 7 puzzles/)
  })
})

describe('solve', () => {
  it.each([
    [[44, 19, 35], 98],
    [[1, 5, 5, 5], 24],
    [[3, 3, 8, 8], 24],
    [[7], 7],
  ])('%j makes %i', (nums, target) => {
    const value = readArithmetic(solve(nums, target) as string)?.value
    expect(value).toEqual({ n: BigInt(target), d: 1n })
  })

  it('finds nothing where there is nothing', () => {
    expect(solve([1, 1, 1, 1], 24)).toBeUndefined()
    expect(solve([2, 3], 7)).toBeUndefined()
  })
})

describe('trinity data countdown', () => {
  const keys = (rows: Record<string, unknown>[]) =>
    rows.map(({ nums, target }) => keyOf(nums as number[], Number(target)))

  it('no puzzle of the test is in the training data', async () => {
    const made = await makeData('countdown', { train: 60, test: 20, sizes: [3], max_number: 9, max_target: 30 })
    const all = [...keys(made.rows('train.jsonl')), ...keys(made.rows('test.jsonl'))]
    expect([made.files.map(({ rows }) => rows), new Set(all).size]).toEqual([[20, 60], 80])
  })

  it('takes the puzzles of a file, each once, without those that cannot be solved', async () => {
    const file = join(await tempDir(), 'mine.jsonl')
    const rows = [
      [1, 2, 3, 6],
      [3, 2, 1, 6],
      [1, 1, 1, 900],
      [2, 3, 4, 24],
      [2, 3, 5, 10],
    ]
    await writeFile(file, rows.map(([a, b, c, target]) => JSON.stringify({ nums: [a, b, c], target })).join('\n'))
    const made = await makeData('countdown', { from: file, test: 1 })
    expect([...made.rows('test.jsonl'), ...made.rows('train.jsonl')]).toEqual([
      { nums: [1, 2, 3], target: 6, solution: expect.any(String) },
      { nums: [2, 3, 4], target: 24, solution: '2 * 3 * 4' },
      { nums: [2, 3, 5], target: 10, solution: '2 + 3 + 5' },
    ])
    expect(made.said).toEqual(['1 puzzles that cannot be solved are left out'])
  })

  const tinyZero = testData('countdown/tinyzero_test.parquet')
  it.skipIf(tinyZero.absent)(`reads the puzzles of TinyZero${tinyZero.note}`, async () => {
    const made = await makeData('countdown', { from: tinyZero.path, test: 20, train: 20 })
    expect(made.files.map(({ rows }) => rows)).toEqual([20, 20])
  })
})
