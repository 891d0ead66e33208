import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'
import { compareHands, handOf } from './blackjack-table.js'

describeEnvironment(vitest, 'blackjack', {
  open: () => openEnvironment('blackjack'),
  episodes: [1, 2, 3, 4].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: { row: { seed: 1 }, seed: 0 }, actions: ['stick'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('blackjack', () => {
  it('counts an ace as 11 where that fits', () => {
    const hand = (...points: number[]) => points.map((one) => ({ points: one, face: String(one) }))
    expect(handOf(hand(1, 10))).toEqual({ sum: 21, usableAce: true })
    expect(handOf(hand(1, 10, 5))).toEqual({ sum: 16, usableAce: false })
    expect(handOf(hand(1, 1, 9))).toEqual({ sum: 21, usableAce: true })
    expect(compareHands(hand(10, 9), hand(10, 8))).toBe(1)
    expect(compareHands(hand(10, 9, 5), hand(10, 8))).toBe(-1)
    expect(compareHands(hand(9, 9), hand(8, 10))).toBe(0)
  })

  it('ends above 21 or with a stick, and shows the dealer then', async () => {
    const world = await openEnvironment('blackjack')
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 12, max: 21 }), async (seed, limit) => {
        let { observation } = await world.reset({ row: { seed }, seed: 0 })
        for (;;) {
          const sum = Number(/Sum: (\d+)/.exec(observation)![1])
          expect(sum).toBeLessThanOrEqual(21)
          const step = await world.step(sum >= limit ? 'stand' : 'hit')
          expect(step.won).toBe(step.reward > 0)
          observation = step.observation
          if (!step.done) continue
          expect(observation).toContain('The dealer has ')
          break
        }
      }),
      { numRuns: 50 },
    )
  })
})
