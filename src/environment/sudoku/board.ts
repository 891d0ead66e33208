import type { Pcg64 } from '../../base/random/index.js'

/** Cells row after row, 0 where nothing stands; 16 or 81 of them. */
export type Board = readonly number[]

export const sideOf = (board: Board): number => Math.sqrt(board.length)

/** Nine rows of nine numbers (or four of four), as lists, as lines, or as one text; `.` and `-` also mean empty. */
export function readBoard(value: unknown): Board | undefined {
  const rows = Array.isArray(value) ? value.flat() : [value]
  const cells = rows.flatMap((row) =>
    typeof row === 'string' ? [...row.replace(/\s/g, '').replace(/[.-]/g, '0')] : [row],
  )
  const board = cells.map(Number)
  const side = sideOf(board)
  if (side !== 4 && side !== 9) return undefined
  return board.every((cell) => Number.isInteger(cell) && cell >= 0 && cell <= side) ? board : undefined
}

export function writeBoard(board: Board): string {
  const side = sideOf(board)
  return Array.from({ length: side }, (_, row) => board.slice(row * side, (row + 1) * side).join(' ')).join('\n')
}

/** The numbers that may stand in a cell, as bits: 2 for 1, 4 for 2, 8 for 3, … */
export function allowed(board: Board, cell: number): number {
  const side = sideOf(board)
  const block = Math.sqrt(side)
  const [row, column] = [Math.floor(cell / side), cell % side]
  const [top, left] = [row - (row % block), column - (column % block)]
  let taken = 0
  for (let i = 0; i < side; i++) {
    const inBlock = (top + Math.floor(i / block)) * side + left + (i % block)
    for (const other of [row * side + i, i * side + column, inBlock]) if (other !== cell) taken |= 1 << board[other]
  }
  return ((2 << side) - 2) & ~taken
}

/** No number stands twice in a row, a column or a block. */
export function isValid(board: Board): boolean {
  return board.every((value, cell) => value === 0 || (allowed(board, cell) & (1 << value)) !== 0)
}

export function isComplete(board: Board): boolean {
  return !board.includes(0) && isValid(board)
}

export function numbersIn(bits: number): number[] {
  const numbers = []
  for (let value = 1; bits >> value > 0; value++) if (bits & (1 << value)) numbers.push(value)
  return numbers
}

/**
 * Solutions of a valid board, at most `most` of them, the cell with the fewest possibilities first. The order of the
 * numbers is random where there is a generator. Gives up after `patience` numbers that were tried.
 */
export function solutions(board: Board, most: number, random?: Pcg64, patience = 100_000): Board[] {
  const found: Board[] = []
  const cells = [...board]
  let tried = 0
  fill()
  return found

  function fill(): void {
    let [at, bits, fewest] = [-1, 0, Number.POSITIVE_INFINITY]
    for (const [cell, value] of cells.entries()) {
      if (value !== 0) continue
      const here = allowed(cells, cell)
      const count = numbersIn(here).length
      if (count < fewest) [at, bits, fewest] = [cell, here, count]
      if (fewest < 2) break
    }
    if (at < 0) {
      found.push([...cells])
      return
    }
    const numbers = numbersIn(bits)
    random?.shuffle(numbers)
    for (const value of numbers) {
      if (found.length >= most || tried++ >= patience) break
      cells[at] = value
      fill()
    }
    cells[at] = 0
  }
}
