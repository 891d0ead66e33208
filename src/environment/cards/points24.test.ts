import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'
import { isReachable } from './reachable.js'

describeEnvironment(vitest, 'points24', {
  open: () => openEnvironment('points24'),
  episodes: [1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: { row: { cards: 'HA H2 H3 H4' }, seed: 0 }, actions: ['1', '*', '2', '*', '3', '*', '4', '='] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('points24', () => {
  const last = async (cards: string, formula: string, args = {}) => {
    const world = await openEnvironment('points24', args)
    await world.reset({ row: { cards }, seed: 0 })
    let end = await world.step(formula.split(' ')[0])
    for (const action of formula.split(' ').slice(1)) end = await world.step(action)
    return end
  }

  it('earns 10 for 24, fractions exactly', async () => {
    expect(await last('S8 H8 S3 H3', '8 / ( 3 - 8 / 3 ) =')).toMatchObject({ reward: 10, done: true, won: true })
    expect(await last('SK HQ S4 HA', '10 + 10 + 4 * 1 =')).toMatchObject({ reward: 10 })
    expect(await last('SA HA S2 HJ', '2 * ( 11 + 1 ) * 1 =', { treat_face_cards_as_10: false })).toMatchObject({
      reward: 10,
    })
  })

  it('what other programs read into two signs or two numbers in a row is not a formula', async () => {
    expect(await last('S2 S4 HA DA', '2 4 * 1 * 1 =')).toMatchObject({ reward: -1, done: true })
    expect(await last('S3 S3 S3 S2', '3 * * 3 - 3 =')).toMatchObject({ reward: -1, done: true })
    expect(await last('S2 S4 HA DA', '2 * 4 =')).toMatchObject({ reward: -1, done: true })
    expect(await last('S2 S4 HA DA', '4 / ( 1 - 1 ) * 2 =')).toMatchObject({ reward: -1, done: true })
  })

  it('ends with −1 when the formula has more than 20 parts', async () => {
    const world = await openEnvironment('points24')
    await world.reset({ row: {}, seed: 0 })
    for (let i = 0; i < 21; i++) expect(await world.step('(')).toMatchObject({ reward: 0, done: false })
    expect(await world.step('(')).toMatchObject({ reward: -1, done: true })
  })

  it('deals what can be solved, unless it shall not', async () => {
    const numbers = async (seed: number, solvable: boolean) => {
      const world = await openEnvironment('points24', { solvable })
      const { observation } = await world.reset({ row: {}, seed })
      return /Numbers: ([\d, ]+)/.exec(observation)![1].split(', ').map(Number)
    }
    let unsolvable = 0
    for (let seed = 0; seed < 40; seed++) {
      expect(isReachable(await numbers(seed, true), 24)).toBe(true)
      if (!isReachable(await numbers(seed, false), 24)) unsolvable++
    }
    expect(unsolvable).toBeGreaterThan(0)
    await expect(numbers(0, true)).resolves.toHaveLength(4)
    const world = await openEnvironment('points24', { target_points: 9999 })
    await expect(world.reset({ row: {}, seed: 0 })).rejects.toMatchObject({ code: 'environment/cards' })
  })
})

describe('isReachable', () => {
  it.each([
    [[3, 3, 8, 8], true],
    [[1, 5, 5, 5], true],
    [[1, 3, 4, 6], true],
    [[1, 1, 1, 1], false],
    [[10, 10, 10, 10], false],
    [[7, 7, 7, 7], false],
  ])('%j: %s', (numbers, expected) => expect(isReachable(numbers, 24)).toBe(expected))

  it('finds what an expression makes', () => {
    const number = fc.integer({ min: 1, max: 13 })
    fc.assert(
      fc.property(number, number, number, number, (a, b, c, d) => {
        expect(isReachable([d, b, c, a], (a + b) * c - d)).toBe(true)
        expect(isReachable([c, a, d, b], a * b + c * d)).toBe(true)
        expect(isReachable([b, d, a, c], a - b / c / d)).toBe(true)
      }),
    )
  })
})
