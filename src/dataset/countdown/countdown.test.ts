import { describe, expect, it } from 'vitest'
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
