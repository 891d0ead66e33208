import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { Pcg64 } from '../../base/random/index.js'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, type OpenEnvironment, openEnvironment, type Turn } from '../index.js'
import { askGymnasium, questions } from '../toy-text/oracle.fixture.js'

const python = testPython('gymnasium')
const NAMES = ['left', 'down', 'right', 'up']
const MAP = ['SFFF', 'FHFH', 'FFFH', 'HFFG']
const open = (id: string, args: Record<string, unknown> = {}) =>
  openEnvironment('gymnasium', { id, python: python.path, ...args })

if (!python.absent) {
  describeEnvironment(vitest, 'gymnasium', {
    open: () => open('FrozenLake-v1', { actions: NAMES }),
    episodes: [1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })),
    ending: { episode: { row: { kwargs: { is_slippery: false } }, seed: 0 }, actions: ['right', 'down'] },
    refused: ({ metrics }) => metrics?.valid_action === 0,
  })
}

describe.skipIf(python.absent)(`environments of Gymnasium${python.note}`, () => {
  it('play the episodes that Gymnasium plays by itself', async () => {
    const asked = questions(20)
    const { episodes } = askGymnasium(python.path, asked)
    const play = async (number: number) => {
      const { id, kwargs, seed, actions } = asked.episodes[number]
      const world = await open(id, { text: 'observation' })
      const seen: unknown[] = [JSON.parse((await world.reset({ row: { seed, kwargs }, seed: 0 })).observation)]
      for (const action of actions.slice(0, episodes[number].length - 1)) {
        const { observation, reward, done } = await world.step(String(action))
        seen.push([JSON.parse(observation), reward, done])
      }
      await world.close()
      return seen
    }
    expect(await Promise.all(asked.episodes.map((_, number) => play(number)))).toEqual(episodes)
  })

  it('FrozenLake is ours, step by step', async () => {
    const [theirs, ours] = [
      await open('FrozenLake-v1', { text: 'observation', actions: NAMES }),
      await openEnvironment('frozen_lake', { desc: MAP, is_slippery: true }),
    ]
    const place = (picture: string) => picture.split('\t').findIndex((cell) => /[PX√]/.test(cell))
    const random = new Pcg64(5)
    let ends = 0
    for (let seed = 0; seed < 60; seed++) {
      const [theirStart, ourStart] = [await theirs.reset({ row: {}, seed }), await ours.reset({ row: {}, seed })]
      expect(place(ourStart.observation)).toBe(Number(theirStart.observation))
      for (let i = 0; i < 30; i++) {
        const action = NAMES[random.below(3)]
        const [their, our] = [await theirs.step(action), await ours.step(action)]
        expect([place(our.observation), our.reward, our.done]).toEqual([
          Number(their.observation),
          their.reward,
          their.done,
        ])
        if (our.done) {
          ends++
          break
        }
      }
    }
    expect(ends).toBeGreaterThan(40)
    for (const world of [theirs, ours]) await world.close()
  })

  it('draw themselves where they can, and are won at the reward that they are registered with', async () => {
    const lake = await open('FrozenLake-v1', { kwargs: { is_slippery: false }, actions: NAMES })
    expect(await lake.reset({ row: {}, seed: 0 })).toEqual({ observation: '[S]FFF\nFHFH\nFFFH\nHFFG' })
    expect((await lake.step('down')).observation).toBe('  (Down)\nSFFF\n[F]HFH\nFFFH\nHFFG')
    for (const action of ['1', 'RIGHT', ' right ', 'down']) expect(await lake.step(action)).not.toHaveProperty('won')
    expect(await lake.step('right')).toMatchObject({ reward: 1, done: true, won: true })
    const taxi = await open('Taxi-v4')
    expect((await taxi.reset({ row: {}, seed: 3 })).observation).toContain('<magenta>Y</magenta>')
    // what is possible now, as the environment says it
    expect((await taxi.admissible())?.length).toBeLessThan(6)
    for (const world of [lake, taxi]) await world.close()
  })

  it('a row may bring its own map, and the next is as before', async () => {
    const lake = await open('FrozenLake-v1', { kwargs: { is_slippery: false }, actions: NAMES })
    expect(await lake.reset({ row: { kwargs: { desc: ['SG', 'HH'] } }, seed: 0 })).toEqual({ observation: '[S]G\nHH' })
    expect(await lake.step('right')).toMatchObject({ reward: 1, done: true })
    expect((await lake.reset({ row: {}, seed: 0 })).observation).toHaveLength(21)
    await lake.close()
  })

  it('observations and actions that are no numbers go as JSON', async () => {
    const pendulum = await open('Pendulum-v1')
    const numbers = async (world: OpenEnvironment) => JSON.parse((await world.reset({ row: {}, seed: 1 })).observation)
    const start = await numbers(pendulum)
    expect(start[0] ** 2 + start[1] ** 2).toBeCloseTo(1, 4)
    expect(String(start[2])).toMatch(/^-?\d\.\d{1,6}$/)
    for (const action of ['[0.5]', '0.5', '-2'])
      expect(await pendulum.step(action)).toMatchObject({ metrics: { valid_action: 1 } })
    for (const action of ['[0.5, 1]', '3', 'null', '{"a": 1}', 'left', '[[[1]], 2]', 'NaN']) {
      expect(await pendulum.step(action)).toMatchObject({ reward: 0, metrics: { valid_action: 0 } })
    }
    expect(await pendulum.admissible()).toBeUndefined()
    await pendulum.close()
  })

  it('an id that is unknown, arguments that it does not take, and a Python without it are errors', async () => {
    await expect(open('FrozenLak-v1')).rejects.toMatchObject({
      code: 'environment/setup',
      message: expect.stringContaining('`FrozenLake`'),
    })
    await expect(open('FrozenLake-v1', { kwargs: { depth: 3 } })).rejects.toThrow("'depth'")
    await expect(open('no_such_module:X-v0')).rejects.toMatchObject({ code: 'environment/failed' })
  })

  it('a thousand at once share a few workers', async () => {
    const worlds = await Promise.all(
      Array.from({ length: 1000 }, () => open('FrozenLake-v1', { text: 'observation', workers: 2 })),
    )
    const starts = await Promise.all(worlds.map((world, seed) => world.reset({ row: {}, seed })))
    expect(starts).toHaveLength(1000)
    const ends = await Promise.all(worlds.map((world) => world.step('1')))
    expect(new Set(ends.map(({ observation }) => observation))).toEqual(new Set(['0', '1', '4']))
    await Promise.all(worlds.map((world) => world.close()))
  })
})

describe('how a model is told', () => {
  const turn: Turn = { step: 0, maxSteps: 9, observation: '[S]F', admissible: NAMES, past: [] }
  const persona = (args = {}) => {
    const { entry, args: checked } = environmentOf('gymnasium', { id: 'FrozenLake-v1', ...args })
    return entry.persona(checked)
  }

  it('the actions stand in the rules, unless there are other rules or none', () => {
    expect(persona().system?.(turn)).toMatch(/FrozenLake-v1.*<action>.*left, down, right, up\.$/)
    expect(persona().system?.({ ...turn, admissible: undefined })).not.toContain('actions are')
    expect(persona({ system: 'Walk.' }).system?.(turn)).toBe('Walk.')
    expect(persona({ system: '' }).system).toBeUndefined()
    expect(persona().prompt(turn)).toBe('[S]F')
  })

  it.each([
    ['I go <action>left</action> or <action> down </action>', 'down'],
    ['so:\n```\nup\n```', 'up'],
    [' right\n', 'right'],
    ['<action>left', '<action>left'],
    ['</action>', '</action>'],
  ])('%j means %j', (reply, action) => expect(persona().action(reply, turn)).toBe(action))
})
