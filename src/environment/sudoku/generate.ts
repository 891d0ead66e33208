import { Pcg64 } from '../../base/random/index.js'
import { type Board, solutions } from './board.js'

export type Difficulty = 'easy' | 'medium' | 'hard'

/** Cells that are emptied. */
const HOLES: Readonly<Record<4 | 9, Readonly<Record<Difficulty, number>>>> = {
  4: { easy: 4, medium: 6, hard: 8 },
  9: { easy: 30, medium: 40, hard: 50 },
}

/** A puzzle with exactly one solution: a full board is drawn, then cells are emptied as long as it stays the only one. */
export function generatePuzzle(side: 4 | 9, difficulty: Difficulty, seed: number): Board {
  const random = new Pcg64(seed)
  const wanted = HOLES[side][difficulty]
  for (;;) {
    const empty = Array.from({ length: side * side }, () => 0)
    const cells = [...solutions(empty, 1, random)[0]]
    let holes = 0
    for (const cell of random.permutation(side * side)) {
      if (holes === wanted) return cells
      const value = cells[cell]
      cells[cell] = 0
      if (solutions(cells, 2).length === 1) holes++
      else cells[cell] = value
    }
  }
}
