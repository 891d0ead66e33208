import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment } from '../index.js'

describeEnvironment(vitest, 'number_line', {
  open: () => openEnvironment('number_line'),
  episodes: [1, 2, 3, 4].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: { row: { current: 1, target: 3 }, seed: 0 }, actions: ['right', '+'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('number_line', () => {
  it('earns 1 at the target, costs 1 for a step that comes no closer, and ends after twice its length', async () => {
    const world = await openEnvironment('number_line')
    const { observation } = await world.reset({ row: { current: 0, target: 2 }, seed: 0 })
    expect(observation).toBe('Target: 2. Current: 0.')
    expect(await world.step('left')).toMatchObject({ reward: -1, done: false, observation: 'Target: 2. Current: 0.' })
    expect(await world.step('right')).toMatchObject({ reward: 0, done: false })
    expect(await world.step('-')).toMatchObject({ reward: -1, done: false })
    expect(await world.step('jump')).toMatchObject({ reward: -1, done: false, metrics: { valid_action: 0 } })
    for (let i = 4; i < 9; i++) expect(await world.step('left')).toMatchObject({ reward: -1, done: false })
    expect(await world.step('left')).toMatchObject({ reward: -1, done: true, won: false })
    await world.reset({ row: { current: 1, target: 2 }, seed: 0 })
    expect(await world.step('right')).toMatchObject({ reward: 1, done: true, won: true })
  })

  it('never begins at the target, and the straight way leads there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.nat(), async (max_position, seed) => {
        const world = await openEnvironment('number_line', { max_position })
        const start = await world.reset({ row: {}, seed })
        const [target, current] = start.observation.match(/\d+/g)!.map(Number)
        expect(target).not.toBe(current)
        expect(Math.max(target, current)).toBeLessThanOrEqual(max_position)
        const rewards = []
        for (let at = current; at !== target; at += Math.sign(target - at)) {
          rewards.push((await world.step(target > at ? 'right' : 'left')).reward)
        }
        expect(rewards).toEqual([...Array(Math.abs(target - current) - 1).fill(0), 1])
      }),
      { numRuns: 40 },
    )
  })

  it('says what is wrong with a row', async () => {
    const world = await openEnvironment('number_line')
    for (const row of [{ target: 3, current: 3 }, { target: 6 }, { current: -1 }, { seed: null, current: 'two' }]) {
      await expect(world.reset({ row, seed: 0 })).rejects.toMatchObject({ code: 'environment/row' })
    }
  })

  it('reads the action from the JSON of a reply', () => {
    const { entry, args } = environmentOf('number_line', {})
    const turn = { step: 0, maxSteps: 9, observation: 'line', past: [] }
    const action = (reply: string) => entry.persona(args).action(reply, turn)
    expect(action('{"thoughts": "up", "action": "right"}')).toBe('right')
    expect(action('first {"action": "left"}, then\n```json\n{"action" : "+"}```')).toBe('+')
    for (const reply of ['right', '{"action": right}', '{"action": "jump"}', '"action"', '{"action": "right']) {
      expect(action(reply), reply).toMatchObject({ reward: -1, done: false })
    }
    expect(entry.persona(args).system?.(turn)).toContain('from 0 to 5')
  })
})
