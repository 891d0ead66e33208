import { TrinityError } from '../../base/error.js'
import { Pcg64 } from '../../base/random/index.js'

export interface MapSpec {
  readonly size: number
  /** Share of fields that are ice. */
  readonly p: number
  readonly seed: number
  /** From one corner to the other, as Gymnasium draws it, or between any two fields, as studies of agents do. */
  readonly start: 'corner' | 'anywhere'
  /** Maps on which no way of about so many steps is found are drawn again. */
  readonly longest: number
}

/** Fields that are drawn before a map is given up: less than a second. */
const MOST_FIELDS = 300_000

/**
 * A random map with a way to the goal: rows of S, F, H and G. The same numbers are drawn in the same order as by
 * Gymnasium's `generate_random_map`, and by the variant of it with any start and goal, so that seeds mean the same maps.
 */
export function randomMap({ size, p, seed, start, longest }: MapSpec): string[] {
  const random = new Pcg64(seed)
  const share = Math.min(1, p)
  // NumPy divides by the sum, which need not be 1.
  const ice = share / (share + (1 - share))
  const most = Math.max(100, Math.floor(MOST_FIELDS / size ** 2))
  for (let tries = 0; tries < most; tries++) {
    const cells: string[] = Array.from({ length: size * size }, () => (random.random() < ice ? 'F' : 'H'))
    const [from, to] = start === 'corner' ? [0, size * size - 1] : twoFields(size, random)
    cells[from] = 'S'
    cells[to] = 'G'
    if (hasWay(cells, size, from, longest)) {
      return Array.from({ length: size }, (_, row) => cells.slice(row * size, (row + 1) * size).join(''))
    }
  }
  throw new TrinityError(
    'environment/map',
    `frozen_lake: none of ${most} maps of size ${size} with p ${p} has a way to the goal`,
    {
      hint: 'raise p or env_max_steps, or lower size',
    },
  )
}

function twoFields(size: number, random: Pcg64): [from: number, to: number] {
  for (;;) {
    const field = () => random.below(size - 1) * size + random.below(size - 1)
    const [from, to] = [field(), field()]
    if (from !== to) return [from, to]
  }
}

/**
 * Depth first, and a field is looked at once: with a limit of steps it may miss a short way. Which maps are drawn again
 * depends on it, so it stays as it is in the programs that the seeds come from.
 */
function hasWay(cells: readonly string[], size: number, from: number, longest: number): boolean {
  const seen = new Set<number>()
  const open: [cell: number, steps: number][] = [[from, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [cell, steps] = next
    if (steps > longest || seen.has(cell)) continue
    seen.add(cell)
    for (const neighbor of neighbors(cell, size)) {
      if (cells[neighbor] === 'G') return true
      if (cells[neighbor] !== 'H') open.push([neighbor, steps + 1])
    }
  }
  return false
}

function neighbors(cell: number, size: number): number[] {
  const column = cell % size
  return [
    ...(cell + size < size * size ? [cell + size] : []),
    ...(column + 1 < size ? [cell + 1] : []),
    ...(cell >= size ? [cell - size] : []),
    ...(column > 0 ? [cell - 1] : []),
  ]
}
