import { z } from 'zod'
import type { DataRow } from '../../task/index.js'
import { type Environment, type EpisodeSpec, environment, type Start, type Transition } from '../environment.js'
import { readRow, rowError, seedColumn } from '../row.js'
import { promptStyle } from '../small-world.js'
import {
  allowed,
  type Board,
  isComplete,
  isValid,
  numbersIn,
  readBoard,
  sideOf,
  solutions,
  writeBoard,
} from './board.js'
import { generatePuzzle } from './generate.js'

const NAME = 'sudoku'

const args = z.strictObject({
  size: z
    .union([z.literal(9), z.literal(4)])
    .default(9)
    .describe('Of generated puzzles.'),
  difficulty: z
    .enum(['easy', 'medium', 'hard'])
    .default('medium')
    .describe('Of generated puzzles: how many cells are empty.'),
  max_moves_per_step: z.int().min(1).default(5).describe('Lines of a reply; more are refused.'),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const columns = z.object({ puzzle: z.unknown(), solution: z.unknown(), seed: seedColumn })

interface Move {
  readonly cell: number
  readonly value: number
}

/** `row column value` in every line, from 0 on; undefined: any line that is not, none at all, or too many. */
export function readMoves(text: string, side: number, most: number): Move[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0 || lines.length > most) return undefined
  const moves = lines.flatMap((line): Move[] => {
    const [, row, column, value] = (/^\s*(\d{1,3})\s+(\d{1,3})\s+(\d{1,3})\s*$/.exec(line) ?? []).map(Number)
    return row < side && column < side && value >= 1 && value <= side ? [{ cell: row * side + column, value }] : []
  })
  return moves.length === lines.length ? moves : undefined
}

/**
 * Sudoku in steps of a few numbers. Filling the board by its rules earns 1; whatever is not a move, or fills a cell that is
 * not empty, or breaks a rule, costs 1 and ends it.
 */
export class Sudoku implements Environment {
  readonly #args: Args
  #board: Board = []

  constructor(given: Args) {
    this.#args = given
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given, puzzle, solution } = readRow(NAME, columns, row)
    const { size, difficulty } = this.#args
    this.#board = puzzle === undefined ? generatePuzzle(size, difficulty, seed) : puzzleOf(puzzle, solution)
    return { observation: writeBoard(this.#board) }
  }

  step(action: string): Transition {
    const moves = readMoves(action, sideOf(this.#board), this.#args.max_moves_per_step)
    if (moves === undefined) return this.#end(-1, 0)
    const board = [...this.#board]
    for (const { cell, value } of moves) {
      const isEmpty = board[cell] === 0
      board[cell] = value
      this.#board = board
      if (!isEmpty || !isValid(board)) return this.#end(-1, 1)
    }
    if (isComplete(board)) return this.#end(1, 1)
    return { observation: writeBoard(board), reward: 0, done: false, metrics: { valid_action: 1 } }
  }

  #end(reward: number, isMove: 0 | 1): Transition {
    const observation = writeBoard(this.#board)
    return { observation, reward, done: true, won: reward > 0, metrics: { valid_action: isMove } }
  }

  /** Single moves that break no rule; in a dead end there is none. */
  admissible(): readonly string[] | undefined {
    const side = sideOf(this.#board)
    const moves = this.#board.flatMap((value, cell) =>
      value === 0
        ? numbersIn(allowed(this.#board, cell)).map((number) => `${Math.floor(cell / side)} ${cell % side} ${number}`)
        : [],
    )
    return moves.length > 0 ? moves : undefined
  }

  /** Boards are never changed: one is its own snapshot. */
  snapshot(): Board {
    return this.#board
  }

  restore(snapshot: unknown): void {
    this.#board = snapshot as Board
  }
}

/** The puzzle of a row, which must have a solution; where the row gives one, it must be that of the puzzle. */
function puzzleOf(puzzle: DataRow[string], solution: DataRow[string]): Board {
  const board = readBoard(puzzle)
  const refuse = (column: string, why: string) => rowError(NAME, column, why, column === 'puzzle' ? puzzle : solution)
  if (!board) throw refuse('puzzle', 'expected 9 rows of 9 numbers, or 4 of 4, with 0 for an empty cell')
  if (!isValid(board)) throw refuse('puzzle', 'a number stands twice in a row, a column or a block')
  if (!board.includes(0)) throw refuse('puzzle', 'no cell is empty')
  if (solution === undefined) {
    if (solutions(board, 1).length === 0) throw refuse('puzzle', 'it has no solution')
    return board
  }
  const full = readBoard(solution)
  const fits = full?.length === board.length && board.every((value, cell) => value === 0 || value === full[cell])
  if (!full || !isComplete(full) || !fits) throw refuse('solution', 'expected the full board of this puzzle')
  return board
}

export const sudoku = environment({
  doc: 'fill a Sudoku, a few numbers at a time',
  args,
  maxSteps: 20,
  create: (given) => new Sudoku(given),
  persona: ({ max_moves_per_step: most, prompt }) => ({
    prompt: ({ observation, step, maxSteps }) => {
      if (prompt === 'brief') return observation
      const side = observation.split('\n').length
      const block = Math.sqrt(side)
      return `This is a Sudoku of ${side} rows and ${side} columns, 0 is an empty cell. In the end every row, every column and every block of ${block} × ${block} cells holds each number from 1 to ${side} once.

Fill empty cells only. Give one to ${most} moves and nothing else, each on a line of its own as three numbers: row, column, value. Rows and columns count from 0. Two moves look like this:
0 2 4
1 3 ${Math.min(5, side)}
A reply in another form, a cell that is not empty, or a number that breaks a rule ends the game.

Current step: ${step}
Remaining steps: ${maxSteps - step}

Current board:
${observation}`
    },
    action: (reply) => reply,
  }),
})
