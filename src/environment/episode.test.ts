import { describe, expect, it } from 'vitest'
import type { Persona, Transition } from './environment.js'
import { Episode } from './episode.js'
import { OpenEnvironment } from './open.js'

/** Counts up to three; says what it was told. */
class Counter {
  #count = 0
  get count() {
    return this.#count
  }
  set(count: unknown) {
    this.#count = count as number
  }
  reset() {
    this.#count = 0
    return { observation: 'at 0', goal: 'reach 3' }
  }
  step(action: string): Transition {
    if (action === 'add') this.#count++
    const done = this.#count === 3
    return { observation: `at ${this.#count}`, reward: 0.5, done, won: done, score: done ? 1 : this.#count / 10 }
  }
  admissible() {
    return ['add', 'wait']
  }
}

const persona: Persona = {
  system: ({ goal, maxSteps }) => `${goal} in ${maxSteps}`,
  prompt: ({ observation, admissible, past }) => `${observation} ${admissible} ${past.length}`,
  action: (reply, { observation }) =>
    /<(.+)>/.exec(reply)?.[1] ?? { observation: `no tag; ${observation}`, reward: -1, done: reply === 'stop' },
}
const begin = (given: Partial<Persona> = {}, maxSteps = 10) => {
  const environment = new OpenEnvironment('counter', new Counter())
  return Episode.begin({ environment, persona: { ...persona, ...given }, maxSteps }, { row: {}, seed: 1 })
}

describe('Episode', () => {
  it('tells the model the rules, what is seen, and the turns before', async () => {
    const episode = await begin()
    expect(episode.messages()).toEqual([
      { role: 'system', content: 'reach 3 in 10' },
      { role: 'user', content: 'at 0 add,wait 0' },
    ])
    await episode.reply('I <add>')
    await episode.reply('I <wait>')
    const roles = (history?: number) => episode.messages(history).map(({ role, content }) => `${role}: ${content}`)
    expect(roles()).toEqual([
      'system: reach 3 in 10',
      'user: at 0 add,wait 0',
      'assistant: I <add>',
      'user: at 1 add,wait 1',
      'assistant: I <wait>',
      'user: at 1 add,wait 2',
    ])
    expect(roles(1)).toEqual([roles()[0], ...roles().slice(3)])
    expect(roles(0)).toEqual([roles()[0], roles()[5]])
    expect((await begin({ system: undefined })).messages()).toHaveLength(1)
    expect(episode.messagesAt(1)).toEqual(episode.messages().slice(0, 4))
    expect(episode.messagesAt(0)).toEqual(episode.messages().slice(0, 2))
  })

  it('takes the replies of another again, where they lead to the same', async () => {
    const [first, second] = [await begin(), await begin()]
    for (const reply of ['<add>', 'hm', '<add>']) await first.reply(reply)
    await second.repeat(first.turn.past, 2)
    expect(second.messages()).toEqual(first.messagesAt(2))
    const other = await begin({ prompt: ({ step }) => `step ${step}` })
    await expect(other.repeat(first.turn.past, 2)).rejects.toMatchObject({ code: 'environment/replay' })
  })

  it('a reply without an action costs what the persona says and does not reach the world', async () => {
    const episode = await begin()
    expect(await episode.reply('hm')).toMatchObject({ reward: -1, done: false })
    expect(episode.turn).toMatchObject({ step: 1, observation: 'no tag; at 0', past: [{ reply: 'hm' }] })
    expect(episode.turn.past[0].action).toBeUndefined()
    await episode.reply('<add>')
    expect(episode.turn.observation).toBe('at 1')
    expect([episode.invalid, episode.over]).toEqual([1, false])
    await episode.reply('stop')
    expect(episode.over).toBe(true)
    // No score in the last transition: the sum of the rewards.
    expect(episode.score).toBe(-1.5)
  })

  it("ends with the world or at the limit; the world's score counts more than the sum", async () => {
    const won = await begin()
    for (let i = 0; i < 3; i++) await won.reply('<add>')
    expect([won.over, won.won, won.score]).toEqual([true, true, 1])
    expect(won.turn.admissible).toEqual([])
    const cut = await begin({}, 2)
    for (let i = 0; i < 2; i++) await cut.reply('<add>')
    expect([cut.over, cut.won, cut.score]).toEqual([true, false, 0.2])
  })

  it('takes actions as they are, and goes back to a place as often as wanted, also from the end', async () => {
    const world = new Counter()
    const remembered = Object.assign(world, { snapshot: () => world.count, restore: (at: unknown) => world.set(at) })
    const environment = new OpenEnvironment('counter', remembered)
    const episode = await Episode.begin({ environment, persona, maxSteps: 10 }, { row: {}, seed: 1 })
    await episode.act('add')
    const mark = await episode.mark()
    const before = episode.messages()
    for (let again = 0; again < 2; again++) {
      await episode.act('add')
      expect((await episode.reply('<add>')).won).toBe(true)
      expect(episode.over).toBe(true)
      await episode.back(mark)
      expect([episode.over, episode.turn.step, episode.messages()]).toEqual([false, 1, before])
    }
    expect(episode.turn.past[0]).toMatchObject({ action: 'add', reply: 'add' })
  })
})
