import { TrinityError } from '../../base/error.js'
import { Pcg64 } from '../../base/random/index.js'
import { countdownPuzzle } from '../../reward/index.js'
import { toNumber } from '../../reward/math/rational.js'
import type { DataRow } from '../../task/index.js'
import { reachable, solve } from './solve.js'

/** Numbers to make the target of, and one way to do so. */
export interface Puzzle {
  readonly nums: readonly number[]
  readonly target: number
  readonly solution: string
}

export interface Ranges {
  readonly sizes: readonly number[]
  readonly max_number: number
  readonly max_target: number
  readonly seed: number
}

/** Draws in a row that bring nothing new before the ranges are taken for exhausted. */
const PATIENCE = 5000

/** Puzzles without end, each once, all of which can be solved. Same ranges and seed, same puzzles. */
export function* drawPuzzles(ranges: Ranges): Iterable<Puzzle> {
  const rng = new Pcg64(ranges.seed)
  const seen = new Set<string>()
  for (let misses = 0; ; misses++) {
    if (misses > PATIENCE) {
      throw new TrinityError('dataset/exhausted', `there are hardly more than ${seen.size} puzzles of this kind`, {
        hint: 'ask for fewer rows, or for larger numbers, targets or sizes',
      })
    }
    const count = ranges.sizes[rng.below(ranges.sizes.length - 1)]
    const nums = Array.from({ length: count }, () => 1 + rng.below(ranges.max_number - 1))
    const targets = reachable(nums, ranges.max_target)
    if (targets.length === 0) continue
    const target = targets[rng.below(targets.length - 1)]
    const key = keyOf(nums, target)
    if (seen.has(key)) continue
    seen.add(key)
    misses = 0
    yield { nums, target, solution: solve(nums, target) as string }
  }
}

/** The puzzles of rows with `nums` and `target`, each once. Those that cannot be solved are left out and counted. */
export async function* givenPuzzles(rows: AsyncIterable<DataRow>, tell: (text: string) => void): AsyncIterable<Puzzle> {
  const seen = new Set<string>()
  let impossible = 0
  for await (const row of rows) {
    const { target, numbers } = countdownPuzzle(row)
    const [value, ...nums] = [target, ...numbers].map(toNumber)
    const key = keyOf(nums, value)
    if (seen.has(key)) continue
    seen.add(key)
    const solution = solve(nums, value)
    if (solution === undefined) impossible++
    else yield { nums, target: value, solution }
  }
  if (impossible > 0) tell(`${impossible} puzzles that cannot be solved are left out`)
}

/** Equal for puzzles that are the same: the order of the numbers does not matter. */
export function keyOf(nums: readonly number[], target: number): string {
  return `${[...nums].sort((a, b) => a - b)}=${target}`
}
