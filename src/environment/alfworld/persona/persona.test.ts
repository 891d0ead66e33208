import { describe, expect, it } from 'vitest'
import { environmentOf } from '../../args.js'
import type { Transition, Turn } from '../../environment.js'
import { Episode } from '../../episode.js'
import { openEnvironment } from '../../open.js'
import { HOUSES, rowOf } from '../house.fixture.js'

const WAY = ['go to bed 1', 'take book 2 from bed 1', 'go to desk 1', 'use desklamp 1']

async function begin(args: Record<string, unknown>, maxSteps = 25) {
  const { entry, args: checked } = environmentOf('alfworld', args)
  const environment = await openEnvironment('alfworld', args)
  return Episode.begin({ environment, persona: entry.persona(checked), maxSteps }, { row: rowOf(HOUSES[5]), seed: 0 })
}

const prompt = (episode: Episode) => String(episode.messages().at(-1)?.content)

describe('the prompt r3l', () => {
  const said = (action: string) => `<think> so it is </think>\n<action>\n ${action} </action>`

  it('tells rules, the possible actions, and the last four actions', async () => {
    const episode = await begin({})
    const [system, first] = episode.messages().map(({ role, content }) => [role, content])
    expect(system[0]).toBe('system')
    for (const part of [
      '<think>',
      '<action>',
      'at most 25 steps',
      '- use (object)',
      '- move (object) to (receptacle)',
    ]) {
      expect(system[1]).toContain(part)
    }
    expect(first[1]).toContain('-= Welcome to TextWorld, ALFRED! =-')
    expect(first[1]).toContain("['go to bed 1', 'go to desk 1', 'go to drawer 1', 'help', 'inventory', 'look']")
    expect(first[1]).not.toContain('Step 0')
    for (const action of ['go to bed 1', 'look', 'inventory', 'examine bed 1', 'go to desk 1']) {
      expect(await episode.reply(said(action))).toMatchObject({ done: false })
    }
    const later = prompt(episode)
    expect(later).toContain('examine the book with the desklamp.')
    expect(later).toContain('You have taken 5 steps')
    expect(later).toContain('Step 1: look\nStep 2: inventory\nStep 3: examine bed 1\nStep 4: go to desk 1')
    expect(later).not.toContain('Step 0')
    expect(later).toContain('You arrive at desk 1.')
  })

  it('wins with 1', async () => {
    const episode = await begin({})
    for (const action of WAY) await episode.reply(said(action))
    expect([episode.over, episode.won, episode.score]).toEqual([true, true, 1])
  })

  it.each([
    ['no tags', 'go to bed 1'],
    ['no thought', '<action>go to bed 1</action>'],
    ['two actions', `${said('go to bed 1')}<action>look</action>`],
    ['two thoughts', `<think>a</think>${said('look')}`],
    ['other letters', '<Think>a</Think><Action>look</Action>'],
    ['what is not possible', said('open bed 1')],
    ['nearly possible', said('Look')],
  ])('ends with 0 after %s', async (_, reply) => {
    const episode = await begin({})
    expect(await episode.reply(reply)).toMatchObject({ done: true, reward: 0 })
    expect([episode.over, episode.won, episode.score]).toEqual([true, false, 0])
  })

  it('ends with 0 at the third time in a row', async () => {
    const episode = await begin({ failure_reward: -0.5 })
    for (const action of ['look', 'inventory', 'look', 'look']) {
      expect(await episode.reply(said(action))).toMatchObject({ done: false })
    }
    expect(await episode.reply(said('look'))).toMatchObject({ done: true, reward: 0 })
    expect([episode.won, episode.score]).toEqual([false, -0.5])
  })
})

describe('the prompt trinity', () => {
  it('shows observations, reads the action alone, and goes on after nonsense', async () => {
    const episode = await begin({ prompt: 'trinity', wording: 'put', failure_reward: -0.1 })
    const [system, first] = episode.messages()
    expect(system.content).toContain('- put (object) in/on (receptacle)')
    expect(first.content).toMatch(/^Observation: -= Welcome/)
    expect(await episode.reply('I just think')).toMatchObject({ observation: 'Nothing happens.', done: false })
    expect(episode.invalid).toBe(1)
    expect(prompt(episode)).toMatch(/^Observation: Nothing happens\. Check/)
    await episode.reply('<think>x</think><action> fly </action>')
    expect(prompt(episode)).toMatch(/^Observation: Nothing happens\. Check/)
    expect(episode.score).toBe(-0.1)
    await episode.reply('<action>go to bed 1<action>look</action>')
    expect(prompt(episode)).toMatch(/^Observation: You arrive at bed 1\./)
    for (const action of WAY.slice(1)) await episode.reply(`<action>${action}`)
    expect([episode.won, episode.score]).toEqual([true, 1])
  })
})

describe('the prompt raft', () => {
  const said = (action: string, thought = 'so') =>
    `<experience>look first</experience>\n\n<think>${thought}</think>\n\n<action>${action}</action>`

  it('wants three parts', async () => {
    const episode = await begin({ prompt: 'raft' })
    expect(String(episode.messages()[0].content)).toContain('<experience>')
    for (const reply of ['<think>a</think><action>look</action>', said('look', ' ')]) {
      expect(await episode.reply(reply)).toMatchObject({ observation: 'Nothing happens.', done: false })
    }
    expect(episode.invalid).toBe(2)
    await episode.reply(said('go to bed 1'))
    expect(episode.turn.observation).toContain('You arrive at bed 1.')
  })

  it.each([['look'], ['fly']])('ends at the third time in a row: %s', async (action) => {
    const episode = await begin({ prompt: 'raft' })
    for (const _ of [1, 2]) expect(await episode.reply(said(action))).toMatchObject({ done: false })
    expect(await episode.reply(said(action))).toMatchObject({ done: true })
  })

  it('ends when three replies in a row hold no action', async () => {
    const episode = await begin({ prompt: 'raft' })
    const seen: Transition[] = []
    for (const _ of [1, 2, 3]) seen.push(await episode.reply('hm'))
    expect(seen.map(({ done }) => done)).toEqual([false, false, true])
  })
})

describe('the prompt plain', () => {
  it('is what the game says; the reply is the command', async () => {
    const episode = await begin({ prompt: 'plain' })
    expect(episode.messages()).toHaveLength(1)
    expect(prompt(episode)).toMatch(/^You are in the middle of a room\./)
    expect(prompt(episode)).toMatch(/Your task is to: examine the book with the desklamp\.$/)
    await episode.reply('dance')
    expect(prompt(episode)).toBe('Nothing happens.')
    await episode.reply(' go to bed 1 ')
    expect(prompt(episode)).toBe('You arrive at bed 1. On the bed 1, you see a book 2, and a pillow 1.')
  })
})

describe('prompts', () => {
  it('keep nothing in mind', async () => {
    const { entry, args } = environmentOf('alfworld', {})
    const turn: Turn = { step: 0, maxSteps: 9, observation: 'x', past: [] }
    expect(entry.persona(args).prompt(turn)).toBe(entry.persona(args).prompt(turn))
    expect(() => environmentOf('alfworld', { prompt: 'rude' })).toThrow('prompt')
  })
})
