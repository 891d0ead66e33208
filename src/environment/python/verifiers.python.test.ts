import { resolve } from 'node:path'
import * as vitest from 'vitest'
import { beforeAll, describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { describeEnvironment } from '../../testing/environment.js'
import { Episode, environmentOf, openEnvironment } from '../index.js'

const python = testPython('verifiers')
// where the environments of these tests are
process.env.PYTHONPATH = resolve(import.meta.dirname, '../../../python/tests/world/tasksets')
const open = (id: string, args: Record<string, unknown> = {}) =>
  openEnvironment('verifiers', { id, python: python.path, ...args })

if (!python.absent) {
  // the package takes its time to be imported
  beforeAll(async () => (await open('vf-words')).close(), 120_000)
  describeEnvironment(vitest, 'verifiers', {
    open: () => open('vf-words'),
    episodes: [0, 1, 2].map((index) => ({ row: { index }, seed: 0 })),
    actions: ['eert', 'enots'],
    ending: { episode: { row: {}, seed: 1 }, actions: ['enots'] },
    refused: ({ reward }) => reward < 1,
  })
}

describe.skipIf(python.absent)(`environments of verifiers${python.note}`, () => {
  it('one turn: prompt, reward and metrics are theirs', async () => {
    const world = await open('vf_words', { taskset: { upper: true } })
    const start = { observation: 'Spell STONE backward.', goal: 'You spell.' }
    expect(await world.reset({ row: {}, seed: 4 })).toEqual(start)
    expect(await world.step('enots')).toEqual({
      observation: '',
      reward: 1.5,
      done: true,
      won: true,
      metrics: { right: 1, short: 1, length: 5 },
    })
    await world.reset({ row: { index: 0 }, seed: 4 })
    expect(await world.step('I do not know that word')).toMatchObject({ reward: 0, done: true })
    await world.close()
  })

  it('many turns: their user speaks, our model replies, and what was said is judged', async () => {
    const world = await open('vf_asks')
    expect(await world.reset({ row: {}, seed: 0 })).toEqual({ observation: 'What do you want?' })
    expect(await world.step('tea')).toEqual({ observation: 'Say it nicely.', reward: 0, done: false })
    expect(await world.step('tea please')).toMatchObject({ observation: 'Good.', done: false })
    const { reward, done } = await world.step('and please milk')
    expect([reward, done]).toEqual([2 / 3, true])
    const short = await open('vf_asks', { max_turns: 2 })
    await short.reset({ row: {}, seed: 0 })
    await short.step('please')
    expect(await short.step('please')).toMatchObject({ reward: 2 / 3, done: true })
    for (const one of [world, short]) await one.close()
  })

  it('tools are told in the rules, called in tags, and answer in the next turn', { timeout: 60_000 }, async () => {
    const environment = await open('vf_adds')
    const { entry, args } = environmentOf('verifiers', { id: 'vf_adds' })
    const parts = { environment, persona: entry.persona(args), maxSteps: 9 }
    const episode = await Episode.begin(parts, { row: {}, seed: 0 })
    const [system, user] = episode.messages()
    expect(system.content).toMatch(/<tools>\n\{"name": "\w*add".*\n<\/tools>/)
    expect(user).toEqual({ role: 'user', content: 'What is 17 + 25?' })
    const name = /"name": "(\w*add)"/.exec(String(system.content))?.[1]
    await episode.reply(`I add.\n<tool_call>\n{"name": "${name}", "arguments": {"a": 17, "b": 25}}\n</tool_call>`)
    expect(episode.messages().at(-1)).toEqual({ role: 'user', content: '<tool_response>\n42\n</tool_response>' })
    await episode.reply('<tool_call>{"name": "no", "arguments": {}}</tool_call>')
    expect(episode.messages().at(-1)?.content).toContain("unknown tool 'no'")
    expect(await episode.reply('42')).toMatchObject({ reward: 1, done: true, metrics: { right: 1, calls: 2 } })
    await environment.close()
  })

  it('many at once share a worker', async () => {
    const worlds = await Promise.all(Array.from({ length: 30 }, () => open('vf_asks')))
    const rewards = await Promise.all(
      worlds.map(async (world, i) => {
        await world.reset({ row: {}, seed: 0 })
        for (let turn = 0; ; turn++) {
          const { done, reward } = await world.step(turn < i % 4 ? 'please' : 'now')
          if (done) return reward
        }
      }),
    )
    expect(rewards.map((reward) => Math.round(reward * 3))).toEqual(worlds.map((_, i) => i % 4))
    for (const world of worlds) await world.close()
  })

  it('what fails in a reward fails the episode; what hangs is cut off; the worker goes on', async () => {
    const world = await open('vf_words', { timeout: 2 })
    await world.reset({ row: {}, seed: 0 })
    await expect(world.step('raise')).rejects.toMatchObject({ message: expect.stringContaining('bad luck') })
    await world.reset({ row: {}, seed: 0 })
    await expect(world.step('hang')).rejects.toMatchObject({ code: 'environment/timeout' })
    await world.reset({ row: {}, seed: 0 })
    expect(await world.step('eert')).toMatchObject({ reward: 1.5 })
    await world.close()
  })

  it('says what cannot be', async () => {
    await expect(open('no_such_environment')).rejects.toMatchObject({
      code: 'environment/setup',
      message: expect.stringContaining('no_such_environment'),
    })
    await expect(open('vf_words', { taskset: { lower: true } })).rejects.toThrow('lower')
    // two roles, and only one model
    await expect(open('vf_words', { env: 'user_sim' })).rejects.toMatchObject({
      message: expect.stringMatching(/one role.*user.*assistant|one role.*assistant.*user/),
      hint: expect.stringContaining('client'),
    })
  })
})
