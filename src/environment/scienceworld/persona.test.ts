import { describe, expect, it } from 'vitest'
import { type Environment, Episode, environmentOf, OpenEnvironment, type PastTurn, type Turn } from '../index.js'
import { PERSONAS } from './persona.js'

const turn = (actions: readonly (string | undefined)[] = [], score?: number): Turn => ({
  step: actions.length,
  maxSteps: 30,
  observation: 'You see a sink.',
  past: actions.map(
    (action): PastTurn => ({
      observation: '',
      prompt: '',
      reply: '',
      action,
      transition: { observation: '', reward: 0, done: false, score },
    }),
  ),
})

describe('r3l', () => {
  const { action, system, prompt } = PERSONAS.r3l
  it.each([
    ['<think>a</think> <action>look around</action>', 'look around'],
    ['<think></think>so <action>\n open door \n</action><action>wait</action>', 'open door'],
    ['<action>wait</action><think>a</think><action>wait1</action>', 'wait1'],
  ])('%s', (reply, said) => {
    expect(action(reply, turn())).toBe(said)
  })

  it('ends with nothing where a tag is missing', () => {
    const replies = [
      'look around',
      '<action>wait</action>',
      '<think>a</think>',
      '<action>a</action><think>b</think>',
      '<think>a',
    ]
    for (const reply of replies) expect(action(reply, turn(['a'], 0.5))).toMatchObject({ done: true, score: 0 })
  })

  it('ends with nothing at the same action three times in a row', () => {
    const wait = '<think>a</think><action>wait</action>'
    expect(action(wait, turn(['wait', 'wait'], 0.5))).toMatchObject({ done: true, score: 0 })
    expect(action(wait, turn(['wait', undefined, 'wait']))).toBe('wait')
    expect(action(wait, turn(['wait', 'look', 'wait']))).toBe('wait')
  })

  it('goes on after an empty action, worth what it was', () => {
    const reply = '<think>a</think><action> </action>'
    expect(action(reply, turn(['a'], 0.5))).toMatchObject({ done: false, score: 0.5, reward: 0 })
    expect(action(reply, turn())).toMatchObject({ done: false, score: 0 })
  })

  it('tells the commands and the limit, and shows what is seen', () => {
    expect(system?.(turn())).toMatch(/teleport to LOC.*<think>.*<action>.*30 steps/s)
    expect(prompt(turn())).toMatch(/^Observation:\nYou see a sink\.\n\n.*<think>.*<action>/)
  })
})

describe('trinity', () => {
  const { action, system, prompt } = PERSONAS.trinity
  it.each([
    ['<action>wait</action>', 'wait'],
    ['<think>a</think><action> look around ', 'look around'],
    ['<action>a<action>b</action>', 'a'],
    ['nothing', ''],
  ])('%s', (reply, said) => {
    expect(action(reply, turn(['wait', 'wait']))).toBe(said)
  })

  it('tells the commands, and shows what is seen', () => {
    expect(system?.(turn())).toContain('teleport to LOC')
    expect(prompt(turn())).toBe('Observation:\nYou see a sink.')
  })
})

it('is chosen by the argument, and plays an episode', async () => {
  const world: Environment = {
    reset: () => ({ observation: 'start' }),
    step: (action) => ({ observation: `did ${action}`, reward: 0.1, done: false, score: 0.4 }),
  }
  const { entry, args } = environmentOf('scienceworld', { prompt: 'r3l' })
  const parts = { environment: new OpenEnvironment('x', world), persona: entry.persona(args), maxSteps: entry.maxSteps }
  const episode = await Episode.begin(parts, { row: {}, seed: 0 })
  for (let i = 0; i < 2; i++) await episode.reply('<think>a</think><action>wait</action>')
  expect([episode.score, episode.over]).toEqual([0.4, false])
  await episode.reply('<think>a</think><action>wait</action>')
  expect([episode.score, episode.over, episode.turn.step]).toEqual([0, true, 3])
})
