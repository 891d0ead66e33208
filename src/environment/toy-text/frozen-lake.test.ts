import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import type { Turn } from '../environment.js'
import { environmentOf, openEnvironment } from '../index.js'

const MAP = ['SFFF', 'FHFH', 'FFFH', 'HFFG']

describeEnvironment(vitest, 'frozen_lake', {
  open: () => openEnvironment('frozen_lake', { is_slippery: true }),
  episodes: [
    ...[1, 2, 3].map((seed) => ({ row: {}, seed })),
    { row: { size: 6, p: 0.9, seed: 5 }, seed: 0 },
    { row: { desc: MAP }, seed: 4 },
  ],
  ending: { episode: { row: { desc: 'GGG GSG GGG' }, seed: 0 }, actions: ['right'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('frozen_lake', () => {
  const open = (args = {}) => openEnvironment('frozen_lake', args)

  it('shows the lake, the hole that was stepped into, and the goal that was reached', async () => {
    const world = await open({ desc: MAP })
    const start = await world.reset({ row: {}, seed: 0 })
    expect(start.observation.split('\n')[1]).toBe(' _ \t O \t _ \t O \t')
    expect(start.observation.startsWith(' P \t _ \t')).toBe(true)
    await world.step('Down')
    expect(await world.step(' RIGHT ')).toMatchObject({ reward: 0, done: true, won: false })
    await world.reset({ row: {}, seed: 0 })
    for (const step of ['down', 'down', 'right', 'right', 'down']) await world.step(step)
    const end = await world.step('right')
    expect(end).toMatchObject({ reward: 1, done: true, won: true })
    expect(end.observation.endsWith(' G \t √ \t')).toBe(false)
    expect(end.observation.endsWith(' √ \t')).toBe(true)
  })

  it('takes the map of the row, the map of the arguments, or draws one', async () => {
    const world = await open({ desc: MAP, size: 5 })
    const seen = async (row: Record<string, unknown>) => (await world.reset({ row, seed: 0 })).observation
    expect(await seen({ desc: 'SF\nFG' })).toBe(' P \t _ \t\n _ \t G \t')
    expect((await seen({ desc: null })).split('\n')).toHaveLength(4)
    const drawn = await open({ start: 'anywhere', env_max_steps: 3 })
    const { observation } = await drawn.reset({ row: { size: '7', seed: '3' }, seed: 0 })
    expect(observation.split('\n')).toHaveLength(7)
  })

  it('says what is wrong with a row', async () => {
    const world = await open()
    const refuse = async (row: Record<string, unknown>, text: RegExp) => {
      const error = await world.reset({ row, seed: 0 }).catch((error) => error)
      expect(error).toMatchObject({ code: 'environment/row', path: Object.keys(row)[0] })
      expect(error.message).toMatch(text)
    }
    await refuse({ size: 'large' }, /frozen_lake: column 'size' of the row: expected a whole number \(it is "large"\)/)
    await refuse({ size: 1 }, /size/)
    await refuse({ size: 1e9 }, /size/)
    await refuse({ p: 0 }, /'p'/)
    await refuse({ p: 'x' }, /'p'/)
    await refuse({ seed: -1 }, /seed/)
    await refuse({ seed: 1.5 }, /seed/)
    for (const desc of [['SF', 'G'], ['SX', 'FG'], ['FF', 'FG'], ['SF'], [], 7, '']) await refuse({ desc }, /desc/)
  })

  it('gives up on maps that cannot be drawn', async () => {
    const world = await open({ size: 40, p: 0.01 })
    await expect(world.reset({ row: {}, seed: 0 })).rejects.toMatchObject({ code: 'environment/map' })
  })

  it('there is always one player, and what is earned is in the schedule', async () => {
    const world = await open({ is_slippery: true, reward_schedule: [3, -2, -1] })
    const row = fc.record({ size: fc.integer({ min: 2, max: 8 }), seed: fc.nat() })
    const steps = fc.array(fc.constantFrom('up', 'down', 'left', 'right', '4', 'jump'), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(row, steps, async (row, actions) => {
        let { observation } = await world.reset({ row, seed: 0 })
        for (const action of actions) {
          expect(observation.match(/P/g)).toHaveLength(1)
          const step = await world.step(action)
          expect(step.reward).toBe(action === 'jump' ? 0 : step.done ? (step.won ? 3 : -2) : -1)
          observation = step.observation
          if (step.done) break
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('how frozen_lake talks', () => {
  const persona = (given: Record<string, unknown> = {}) => {
    const { entry, args } = environmentOf('frozen_lake', given)
    return entry.persona(args)
  }
  const turn: Turn = { step: 0, maxSteps: 8, observation: 'lake', past: [] }
  const action = (reply: string, given = {}) => persona(given).action(reply, turn)

  it('takes the last block of backticks, by name or by number', () => {
    expect(action('I think ```Down``` or ```\nUp\n```, so')).toBe('Up')
    expect(action('```3```')).toBe('3')
    for (const reply of ['Up', '```', '``` ```', '```5```', '```Up``` then ```north```', '```Up or down```']) {
      expect(action(reply)).toMatchObject({ observation: 'lake', reward: 0, done: false, metrics: { valid_action: 0 } })
    }
  })

  it('takes any word that is a move when the prompt is brief', () => {
    expect(action('up, no: Down!', { prompt: 'brief' })).toBe('down')
    expect(action('update', { prompt: 'brief' })).toMatchObject({ done: false })
    expect(persona({ prompt: 'brief' }).system).toBeUndefined()
    expect(persona({ prompt: 'brief' }).prompt(turn)).toBe('lake')
  })

  it('tells the rules, the steps that are left, and that a reply changed nothing', () => {
    expect(persona().system?.(turn)).not.toContain('slippery')
    expect(persona({ is_slippery: true }).system?.(turn)).toContain('slippery')
    expect(persona().prompt(turn)).toMatch(/Current Observation \(0\): \nlake\n.*\nSteps remaining: 8\.$/)
    const transition = { observation: 'lake', reward: 0, done: false }
    const past = [{ observation: 'lake', prompt: '', reply: '', transition }]
    expect(persona().prompt({ ...turn, step: 1, past })).toContain('did not move you')
  })
})
