import fc from 'fast-check'
import pc from 'picocolors'
import { expect, it } from 'vitest'
import { widthOf } from '../../base/terminal/width.js'
import type { Experience } from '../../experience/index.js'
import { Board } from './board.js'
import { examplesOf } from './example.js'
import { panelLines } from './panel.js'

const text = fc.array(fc.oneof(fc.nat(0x10ffff), fc.constantFrom(0x20, 0x0a, 0x1b, 0x8a9e, 0x1f44d)), {
  maxLength: 120,
})

/** A run that has come some way. */
function boardOf(steps: number, sets: number, said: string): Board {
  const board = new Board()
  board.role('explorer').progress.total = 100
  board.role('trainer').progress.total = 100
  for (const name of ['explorer', 'trainer']) Object.assign(board.role(name), { phase: said, since: 1 })
  board.role('trainer').spent.begin(`step 1: ${said}`, 0)
  board.role('explorer').spent.begin('step 1: 16 tasks', 0)
  for (let step = 1; step <= steps; step++) {
    board.take('explorer', step, { 'rollout/reward/mean': step, 'explorer/tokens_per_second': 1e6 * step })
    board.take('trainer', step, { 'actor/entropy': 1 / step, 'actor/loss': step, 'actor/grad_norm': 1e-9 })
    for (let set = 0; set < sets; set++)
      board.score({ step, set: `set ${set}`, metric: 'score', score: step * set, unanswered: '' })
  }
  const answer = { reward: 0, responseText: said, promptText: said } as Experience
  board.show('explorer', examplesOf(steps, [answer, { ...answer, reward: 1 }]))
  return board
}

it('fits into every terminal, whatever models say', () => {
  const sizes = fc.record({ width: fc.integer({ min: 20, max: 240 }), rows: fc.integer({ min: 3, max: 60 }) })
  fc.assert(
    fc.property(sizes, fc.nat(4), fc.nat(4), text, ({ width, rows }, steps, sets, codes) => {
      const board = boardOf(steps, sets, String.fromCodePoint(...codes))
      const lines = panelLines(board, 'project/name', 0, { width, rows, colors: pc.createColors(false), now: 5000 })
      expect(lines.length).toBeLessThanOrEqual(Math.max(3, rows - 1))
      expect(lines.filter((line) => widthOf(line) > width || /\p{Cc}/u.test(line))).toEqual([])
    }),
  )
})

it('shows what matters first where there are few rows', () => {
  const board = boardOf(4, 1, 'said')
  const shown = (rows: number) =>
    panelLines(board, 'p/n', 0, { width: 79, rows, colors: pc.createColors(false), now: 5000 }).join('\n')
  expect(shown(8)).toMatch(/p\/n.*\n.*explorer.*\n.*trainer/)
  expect(shown(10)).toMatch(/reward/)
  expect(shown(10)).not.toMatch(/^best/m)
  expect(shown(12)).toMatch(/^best .*said → said/m)
  expect(shown(24)).toMatch(/^time .*rollouts 100 %/m)
})

it('explains the shades of a bar only where there is one', () => {
  const time = (width: number) =>
    panelLines(boardOf(4, 1, 'said'), 'p/n', 0, { width, rows: 40, colors: pc.createColors(false), now: 5000 }).find(
      (line) => line.startsWith('time'),
    )
  expect(time(120)).toBe(`time      explorer ${'█'.repeat(24)}  █ rollouts 100 %`)
  expect(time(79)).toBe('time      explorer   rollouts 100 %')
})
