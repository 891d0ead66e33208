import { z } from 'zod'
import { type Board, sideOf, solutions } from '../../environment/sudoku/board.js'
import { generatePuzzle } from '../../environment/sudoku/generate.js'
import { dataset } from '../dataset.js'
import { distinct, splitsOf, writeSplits } from './splits.js'
import { worldYaml } from './yaml.js'

const args = z.strictObject({
  train: z.int().nonnegative().default(1000),
  test: z.int().nonnegative().default(100),
  size: z
    .union([z.literal(9), z.literal(4)])
    .default(9)
    .describe('rows and columns: 9 or 4'),
  difficulty: z.enum(['easy', 'medium', 'hard']).default('medium'),
  seed: z.int().nonnegative().default(0),
})

function rowsOf(board: Board): number[][] {
  const side = sideOf(board)
  return Array.from({ length: side }, (_, row) => board.slice(row * side, (row + 1) * side))
}

export const sudokuPuzzles = dataset({
  doc: 'Sudoku puzzles with one solution each',
  source: 'generated',
  license: 'none needed',
  args,
  async prepare({ size, difficulty, seed, ...counts }, place) {
    const puzzles = () =>
      distinct('puzzles', seed, (one) => {
        const puzzle = generatePuzzle(size, difficulty, one)
        return { puzzle: rowsOf(puzzle), solution: rowsOf(solutions(puzzle, 1)[0]) }
      })
    await writeSplits(place, counts, puzzles)
  },
  yaml: (given, folder) => worldYaml('sudoku', folder, { workflow: 'sudoku_workflow' }, splitsOf(given)),
})
