import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment } from '../index.js'

describeEnvironment(vitest, 'ez_points', {
  open: () => openEnvironment('ez_points'),
  episodes: [...[1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })), { row: { cards: 'HK D2' }, seed: 0 }],
  ending: { episode: { row: { cards: ['HK', 'D2'] }, seed: 0 }, actions: ['10', '+', '2', '='] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('ez_points', () => {
  const play = async (cards: string, actions: string[]) => {
    const world = await openEnvironment('ez_points')
    await world.reset({ row: { cards }, seed: 0 })
    const steps = []
    for (const action of actions) steps.push(await world.step(action))
    return steps
  }

  it('earns 10 for a formula of all cards that makes 12', async () => {
    const steps = await play('S4 C3', ['3', '*', '4', '='])
    expect(steps.map(({ reward }) => reward)).toEqual([0, 0, 0, 10])
    expect(steps[3]).toMatchObject({ done: true, won: true })
    expect(steps[2].observation).toBe('Cards: S4, C3. Numbers: 4, 3. Target: 12. Formula: 3 * 4')
  })

  it('costs 1 for any other formula', async () => {
    for (const actions of [
      ['='],
      ['3', '='],
      ['3', '+', '4', '='],
      ['3', '4', '='],
      ['4', '*', '*', '3', '='],
      ['*', '='],
    ]) {
      expect((await play('S4 C3', actions)).at(-1)).toMatchObject({ reward: -1, done: true, won: false })
    }
  })

  it('a number that is not there costs 1 and a place in the formula', async () => {
    const steps = await play('HQ D2', ['10', '10', '+', '5', '2', '='])
    expect(steps.map(({ reward }) => reward)).toEqual([0, -1, 0, -1, 0, 10])
    expect(steps[4].observation).toContain('Formula: 10 _ + _ 2')
    expect(steps.map(({ metrics }) => metrics?.valid_action)).toEqual([1, 0, 1, 0, 1, 1])
  })

  it('ends with −1 when the formula has more than 5 parts', async () => {
    const steps = await play('HQ D2', ['+', '+', '+', '+', '+', '+', '='])
    expect(steps.map(({ reward, done }) => [reward, done])).toEqual([...Array(6).fill([0, false]), [-1, true]])
  })

  it('deals two cards that make 12, a first one from 2 on, faces as 10, in any order, by sums and products', async () => {
    const world = await openEnvironment('ez_points')
    const seen = new Set<string>()
    for (let seed = 0; seed < 400; seed++) {
      const { observation } = await world.reset({ row: {}, seed })
      const [, cards, a, b] = /^Cards: (.*)\. Numbers: (\d+), (\d+)\. Target: 12\. Formula: $/.exec(observation)!
      expect(cards).toMatch(/^[HSDC][2-9TJQK], [HSDC][2-9TJQK]$/)
      expect(Number(a) + Number(b) === 12 || Number(a) * Number(b) === 12).toBe(true)
      seen.add(`${a} ${b}`)
    }
    for (const hand of ['2 6', '6 2', '3 4', '4 3', '3 9', '9 3', '10 2', '2 10', '6 6', '5 7'])
      expect(seen).toContain(hand)
  })

  it('lists what can be played', async () => {
    const world = await openEnvironment('ez_points')
    await world.reset({ row: { cards: 'S6 C6' }, seed: 0 })
    expect(await world.admissible()).toEqual(['6', '+', '*', '='])
    await world.step('6')
    await world.step('6')
    expect(await world.admissible()).toEqual(['+', '*', '='])
  })

  it('says what is wrong with a row', async () => {
    const world = await openEnvironment('ez_points')
    for (const cards of ['HK', 'HK D2 D3', 'HK X2', 'HK D1', ['HK', ''], 12, [1, 2]]) {
      await expect(world.reset({ row: { cards }, seed: 0 })).rejects.toMatchObject({
        code: 'environment/row',
        path: 'cards',
      })
    }
  })

  it('tells its rules, or takes the last thing that can be played', () => {
    const turn = { step: 0, maxSteps: 7, observation: 'cards', past: [] }
    const persona = (given = {}) => {
      const { entry, args } = environmentOf('ez_points', given)
      return entry.persona(args)
    }
    expect(persona().system?.(turn)).toContain('make the number 12 from 2 cards')
    expect(persona().action('{"action": "10"}', turn)).toBe('10')
    expect(persona({ prompt: 'brief' }).action('10', turn)).toBe('10')
    expect(persona({ prompt: 'brief' }).action('4*', turn)).toBe('*')
    expect(persona({ prompt: 'brief' }).action('100', turn)).toMatchObject({ reward: -1 })
  })
})
