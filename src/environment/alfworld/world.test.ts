import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { afterAll, describe, expect, it } from 'vitest'
import { gamesIn } from '../../../test/alfworld/games.js'
import { testData } from '../../../test/support/test-data.js'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../open.js'
import { DOMAIN } from './builtin/domain.js'
import { GRAMMAR } from './builtin/grammar.js'
import { HOUSES, rowOf } from './house.fixture.js'
import { AlfWorld } from './world.js'

const episodes = HOUSES.map((house) => ({ row: rowOf(house), seed: 0 }))

describeEnvironment(vitest, 'alfworld', {
  open: () => openEnvironment('alfworld', {}),
  episodes,
  ending: {
    episode: episodes[5],
    actions: ['go to bed 1', 'take book 2 from bed 1', 'go to desk 1', 'use desklamp 1'],
  },
  refused: ({ observation, metrics }) => observation === 'Nothing happens.' && metrics?.valid_action === 0,
})

describe('AlfWorld', () => {
  it('says what is to be done, and what the episode is worth', async () => {
    const world = new AlfWorld({ failure: -0.1 })
    const { observation, goal } = await world.reset(episodes[5])
    expect(goal).toBe('examine the book with the desklamp.')
    expect(observation).toContain('Your task is to: examine the book with the desklamp.')
    expect(world.step('fly')).toMatchObject({ reward: 0, score: -0.1, done: false })
    expect(world.step(' go to bed 1\n')).toMatchObject({ reward: 0, score: -0.1, won: false })
    world.step('take book 2 from bed 1')
    world.step('go to desk 1')
    expect(world.step('use desklamp 1')).toMatchObject({ reward: 1, score: 1, done: true, won: true })
  })

  it('plays on at random without a fault, and comes back to any place exactly', async () => {
    const world = new AlfWorld()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...episodes),
        fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.string() }), {
          maxLength: 40,
        }),
        fc.nat(40),
        async (episode, choices, at) => {
          const play = (some: typeof choices) =>
            some.map((choice) => {
              const possible = world.admissible()
              const command = typeof choice === 'string' ? choice : possible[choice % possible.length]
              return [possible, command, world.step(command)]
            })
          await world.reset(episode)
          const before = play(choices.slice(0, at))
          const snapshot = world.snapshot()
          const after = play(choices.slice(at))
          world.restore(snapshot)
          expect(play(choices.slice(at))).toEqual(after)
          await world.reset(episode)
          expect(play(choices)).toEqual([...before, ...after])
        },
      ),
      { numRuns: 60 },
    )
  })

  it('keeps games apart that share a problem', async () => {
    const world = new AlfWorld()
    const { row } = episodes[0]
    const other = GRAMMAR.replace('You are in the middle', 'You are in the corner')
    expect((await world.reset({ row, seed: 0 })).observation).toContain('in the middle')
    expect((await world.reset({ row: { ...row, grammar: other }, seed: 0 })).observation).toContain('in the corner')
    expect((await world.reset({ row: { ...row, task: 'Rest.' }, seed: 0 })).goal).toBe('Rest.')
    await world.reset({ row: { ...row, walkthrough: ['look'] }, seed: 0 })
    expect(world.walkthrough).toEqual(['look'])
    expect((await world.reset({ row, seed: 0 })).observation).toContain('in the middle')
  })

  it('wants a reset first', () => {
    expect(() => new AlfWorld().step('look')).toThrow('before it is reset')
  })
})

describe('games in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-alfworld-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
    return name
  }
  const { task, pddl_problem } = rowOf(HOUSES[0])
  const grammar = GRAMMAR.replace('"task":[{"rhs":""}]', `"task":[{"rhs":${JSON.stringify(task)}}]`)
  const game = { pddl_domain: DOMAIN, grammar, pddl_problem, solvable: true, walkthrough: ['look'] }
  const start = async (row: Record<string, unknown>, text?: unknown) =>
    new AlfWorld({ folder }).reset({ row, seed: 0, text })

  it('are found by the column or the prompt, absolute, in the folder, or as a folder', async () => {
    const right = await new AlfWorld().reset(episodes[0])
    file('game.tw-pddl', game)
    expect(await start({ game_file: 'game.tw-pddl' })).toEqual(right)
    expect(await start({ game_file: join(folder, 'game.tw-pddl') })).toEqual(right)
    expect(await start({ game_file: '.' })).toEqual(right)
    expect(await start({}, 'game.tw-pddl')).toEqual(right)
    file('game.tw-pddl', { ...game, pddl_problem: rowOf(HOUSES[5]).pddl_problem })
    expect((await start({ game_file: '.' })).observation).toContain('a bed 1')
  })

  it.each([
    ['no game', {}, 'the row names no game'],
    ['an empty path', { game_file: ' ' }, 'the row names no game'],
    ['a missing file', { game_file: 'nowhere' }, 'nowhere'],
    ['no JSON', { game_file: file('a', '{"pddl') }, 'it is no JSON'],
    ['no object', { game_file: file('b', '[]') }, 'it is not an object'],
    ['no problem', { game_file: file('c', { ...game, pddl_problem: 1 }) }, "'pddl_problem' is not a text"],
    ['a bad domain', { game_file: file('d', { ...game, pddl_domain: [] }) }, "'pddl_domain' is not a text"],
    ['a bad grammar', { game_file: file('e', { ...game, grammar: null }) }, "'grammar' is not a text"],
    ['a bad walkthrough', { ...game, walkthrough: [1] }, "'walkthrough' is not a list of commands"],
    ['a bad task', { ...game, task: 3 }, "'task' is not a text"],
    ['a broken problem', { pddl_problem: '(define' }, 'a closing parenthesis is missing'],
    ['actions without words', { ...game, grammar: 'grammar :: """{}""";' }, "no texts for the action 'look'"],
  ])('say what is wrong: %s', async (_, row, message) => {
    await expect(start(row)).rejects.toMatchObject({ code: expect.stringMatching(/^environment\//) })
    await expect(start(row)).rejects.toThrow(message)
  })

  it('hint at ALFWORLD_DATA', async () => {
    await expect(start({ game_file: 'nowhere' })).rejects.toMatchObject({
      hint: expect.stringContaining('ALFWORLD_DATA'),
    })
  })
})

const data = testData('alfworld/games')

describe(`the games of ALFWorld${data.note}`, () => {
  it.skipIf(data.absent)('are won by their walkthroughs and by the expert, a sample of them', async () => {
    const world = new AlfWorld()
    for (const row of gamesIn('valid_seen').filter((_, at) => at % 7 === 0)) {
      await world.reset({ row: { ...row }, seed: 0 })
      const start = world.snapshot()
      for (const command of row.walkthrough) world.step(command)
      expect(world.isWon, row.id).toBe(true)
      world.restore(start)
      for (let next = world.expert(); next !== undefined; next = world.expert()) world.step(next)
      expect(world.isWon, row.id).toBe(true)
    }
  })
})
