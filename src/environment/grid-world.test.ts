import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../testing/environment.js'
import { GridWorld, readMove } from './grid-world.js'
import { openEnvironment } from './index.js'

describeEnvironment(vitest, 'grid_world', {
  open: () => openEnvironment('grid_world', { size: 4, holes: 0.2 }),
  episodes: [
    ...[1, 2, 3].map((seed) => ({ row: {}, seed })),
    { row: { seed: 1, size: 3 }, seed: 9 },
    { row: { size: 6 }, seed: 4 },
  ],
  ending: {
    episode: { row: { size: 2, seed: 0 }, seed: 0 },
    actions: [wayOut(), wayOut() === 'right' ? 'down' : 'right'],
  },
  refused: ({ metrics }) => metrics?.valid_move === 0,
})

/** The free one of the two ways over the map of four fields that seed 0 draws. */
function wayOut(): string {
  const world = new GridWorld({ size: 2, holes: 0.2, step_cost: 0 })
  return world.reset({ row: { seed: 0 }, seed: 0 }).observation[2] === 'O' ? 'down' : 'right'
}

const world = (size: number, holes: number, seed: number) => {
  const made = new GridWorld({ size, holes, step_cost: 0 })
  made.reset({ row: {}, seed })
  return made
}

describe('grid_world', () => {
  it('draws the same map for the same seed, always with a way to the goal', () => {
    for (let seed = 0; seed < 50; seed++) {
      const map = String(world(5, 0.4, seed))
      expect(String(world(5, 0.4, seed))).toBe(map)
      expect(map[0]).toBe('P')
    }
    expect(String(world(5, 0.4, 1))).not.toBe(String(world(5, 0.4, 2)))
  })

  it('the row chooses the map before the arguments and the seed', () => {
    const made = new GridWorld({ size: 4, holes: 0.4, step_cost: 0 })
    const { observation } = made.reset({ row: { size: 5, seed: 1 }, seed: 2 })
    expect(observation).toBe(String(world(5, 0.4, 1)))
    expect(() => made.reset({ row: { size: 'big' }, seed: 1 })).toThrow(
      expect.objectContaining({ code: 'environment/row' }),
    )
  })

  it('a hole ends it, and so does the goal', () => {
    let fell = false
    for (let seed = 0; seed < 30 && !fell; seed++) {
      const made = world(4, 0.4, seed)
      if (String(made)[2] === 'O') fell = made.step('right').reward === -1
    }
    expect(fell).toBe(true)
    const made = world(2, 0, 0)
    expect(made.step('down')).toMatchObject({ reward: 0, done: false, won: false })
    expect(made.step('right')).toMatchObject({ reward: 1, done: true, won: true, metrics: { 'goal:sum': 1 } })
  })

  it('there is one player, who never leaves the grid, and every step has its price', () => {
    const moves = fc.array(fc.constantFrom('up', 'down', 'left', 'right', 'jump', ''), { maxLength: 40 })
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 7 }), fc.nat(1000), moves, (size, seed, all) => {
        const made = new GridWorld({ size, holes: 0.2, step_cost: 0.25 })
        const start = made.reset({ row: {}, seed }).observation
        expect(start.match(/P/g)).toHaveLength(1)
        for (const move of all) {
          const before = String(made)
          const { observation, reward, done, metrics } = made.step(move)
          expect(observation).toBe(String(made))
          expect(observation.match(/P/g)).toHaveLength(1)
          expect(observation.length).toBe(2 * size * size - 1)
          if (metrics?.valid_move === 0) expect(observation).toBe(before)
          expect([-1.25, -0.25, 0.75]).toContain(reward)
          expect(done).toBe(reward !== -0.25)
          if (done) break
        }
      }),
    )
  })

  it('reads the last move that a reply names', () => {
    expect([readMove('up, no: DOWN!'), readMove('update')]).toEqual(['down', undefined])
  })
})
