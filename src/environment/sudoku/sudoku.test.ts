import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment } from '../index.js'
import { type Board, isComplete, isValid, readBoard, solutions, writeBoard } from './board.js'
import { generatePuzzle } from './generate.js'
import { readMoves } from './sudoku.js'

// A published puzzle with its published solution.
const PUZZLE = '53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79'
const SOLUTION = '534678912672195348198342567859761423426853791713924856961537284287419635345286179'
const SMALL = '1234 3412 2143 4320'

describeEnvironment(vitest, 'sudoku', {
  open: () => openEnvironment('sudoku', { size: 4 }),
  episodes: [...[1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })), { row: { puzzle: PUZZLE }, seed: 0 }],
  actions: ['0 0 1'],
  ending: { episode: { row: { puzzle: SMALL }, seed: 0 }, actions: ['3 3 1'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

/** All moves from a puzzle to its solution. */
function moves(puzzle: string, solution: string): string[] {
  const side = Math.sqrt(puzzle.length)
  return [...puzzle].flatMap((cell, at) =>
    cell === '.' ? [`${Math.floor(at / side)} ${at % side} ${solution[at]}`] : [],
  )
}

describe('sudoku', () => {
  it('earns 1 when the board is full, 0 before', async () => {
    const world = await openEnvironment('sudoku')
    const start = await world.reset({ row: { puzzle: PUZZLE, solution: SOLUTION }, seed: 0 })
    expect(start.observation.split('\n')[0]).toBe('5 3 0 0 7 0 0 0 0')
    const all = moves(PUZZLE, SOLUTION)
    const rewards = []
    for (let at = 0; at < all.length; at += 5) rewards.push((await world.step(all.slice(at, at + 5).join('\n'))).reward)
    expect(rewards).toEqual([...Array(Math.ceil(all.length / 5) - 1).fill(0), 1])
  })

  it('costs 1 and ends for a wrong form, a cell that is not empty, and a broken rule', async () => {
    const world = await openEnvironment('sudoku')
    const bad = ['', 'hello', '0 2', '0 2 4 1', '0 9 4', '9 0 4', '0 2 0', '0 2 10', '-1 2 3', '0 2 4\nso', '0 2 4.5']
    const six = moves(PUZZLE, SOLUTION).slice(0, 6).join('\n')
    for (const action of [...bad, six, '0 0 5', '0 2 5', '0 2 4\n0 2 4', '0 2 4\n0 3 4']) {
      await world.reset({ row: { puzzle: PUZZLE }, seed: 0 })
      expect(await world.step(action), action).toMatchObject({ reward: -1, done: true, won: false })
    }
  })

  it('does not know better than the rules where a puzzle has two solutions', async () => {
    const world = await openEnvironment('sudoku')
    const [first, second] = solutions(readBoard('0000 3412 0000 4321')!, 9)
    expect(second).toBeDefined()
    await world.reset({ row: { puzzle: '0000 3412 0000 4321', solution: writeBoard(first) }, seed: 0 })
    const cells = second.flatMap((value, at) =>
      at < 4 || (at >= 8 && at < 12) ? [`${at >> 2} ${at & 3} ${value}`] : [],
    )
    await world.step(cells.slice(0, 4).join('\n'))
    expect(await world.step(cells.slice(4).join('\n'))).toMatchObject({ reward: 1, won: true })
  })

  it('says what is wrong with a row', async () => {
    const world = await openEnvironment('sudoku')
    const puzzles = [
      '',
      '123',
      PUZZLE.slice(1),
      `x${PUZZLE.slice(1)}`,
      `5${PUZZLE.slice(1).replace('3', '5')}`,
      SOLUTION,
    ]
    for (const puzzle of [...puzzles, 7, {}, [[1, 2], [3]], '1230 0004 0000 0000']) {
      await expect(world.reset({ row: { puzzle }, seed: 0 }), String(puzzle)).rejects.toMatchObject({
        code: 'environment/row',
        path: 'puzzle',
      })
    }
    for (const solution of ['', 5, PUZZLE, SMALL, SOLUTION.replaceAll('1', 'x'), [...SOLUTION].reverse().join('')]) {
      await expect(world.reset({ row: { puzzle: PUZZLE, solution }, seed: 0 })).rejects.toMatchObject({
        code: 'environment/row',
        path: 'solution',
      })
    }
  })

  it('asks for lines of three numbers, or shows only the board', () => {
    const turn = { step: 2, maxSteps: 20, observation: writeBoard(readBoard(PUZZLE)!), past: [] }
    const persona = (given = {}) => {
      const { entry, args } = environmentOf('sudoku', given)
      return entry.persona(args)
    }
    expect(persona().prompt(turn)).toMatch(
      /block of 3 × 3[\s\S]*one to 5 moves[\s\S]*Remaining steps: 18[\s\S]*5 3 0 0 7/,
    )
    expect(persona({ prompt: 'brief' }).prompt(turn)).toBe(turn.observation)
    expect(persona().action('0 2 4', turn)).toBe('0 2 4')
  })
})

describe('boards', () => {
  it('are read from lists, lines and plain text', () => {
    const rows = PUZZLE.match(/.{9}/g)!
    const lists = rows.map((row) => [...row].map((cell) => (cell === '.' ? 0 : Number(cell))))
    for (const form of [PUZZLE, rows, rows.join('\n'), lists, lists.flat(), writeBoard(readBoard(PUZZLE)!)]) {
      expect(readBoard(form)).toEqual(lists.flat())
    }
  })

  it('the solver finds the published solution, and that it is the only one', () => {
    expect(solutions(readBoard(PUZZLE)!, 2)).toEqual([readBoard(SOLUTION)])
    expect(isComplete(readBoard(SOLUTION)!)).toBe(true)
    expect(isValid(readBoard(PUZZLE.replace('53', '55'))!)).toBe(false)
  })

  it('that are generated have one solution and as many empty cells as their difficulty says', () => {
    const holes = (board: Board) => board.filter((cell) => cell === 0).length
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom('easy' as const, 'medium' as const, 'hard' as const),
        (seed, difficulty) => {
          const puzzle = generatePuzzle(9, difficulty, seed)
          expect(generatePuzzle(9, difficulty, seed)).toEqual(puzzle)
          expect(solutions(puzzle, 2)).toHaveLength(1)
          expect(holes(puzzle)).toBe({ easy: 30, medium: 40, hard: 50 }[difficulty])
          expect(solutions(generatePuzzle(4, difficulty, seed), 2)).toHaveLength(1)
        },
      ),
      { numRuns: 8 },
    )
  })

  it('any text is moves or is not', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 5 }), (text, most) => {
        const read = readMoves(text, 9, most)
        if (read) expect(read.every(({ cell, value }) => cell < 81 && value >= 1 && value <= 9)).toBe(true)
      }),
    )
    expect(readMoves(' 8\t8  9 \r\n\n0 0 1', 9, 2)).toEqual([
      { cell: 80, value: 9 },
      { cell: 0, value: 1 },
    ])
  })
})
