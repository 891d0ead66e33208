import { rmSync } from 'node:fs'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Pcg64 } from '../../base/random/index.js'
import { describeEnvironment } from '../../testing/environment.js'
import { Episode, openEnvironment } from '../index.js'
import { writeCatalogue } from './catalogue.fixture.js'
import { openShop, type Shop } from './shop.js'
import { webshop } from './webshop.js'
import { WebShop } from './world.js'

const data = writeCatalogue()
afterAll(() => rmSync(data, { recursive: true }))
const args = { data, num_products: null, human_goals: false, show_attrs: true, seed: 0 }
const rewards = { invalid_reward: -0.1, unfinished_reward: null }

describeEnvironment(vitest, 'webshop', {
  open: () => openEnvironment('webshop', { data, human_goals: false }),
  episodes: [0, 1, 2, 17, 100].map((id) => ({ row: { session_id: id }, seed: 0 })),
  actions: ['search[lamp]', 'search[organic shampoo for dry hair]', 'search[zzz]', 'click[search]'],
  ending: {
    episode: { row: { task_desc: '3' }, seed: 0 },
    actions: ['search[kettle]', 'click[next >]', 'click[< prev]', 'click[B0114TESTZ]', 'click[Buy Now]'],
  },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('webshop', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop(args)
  })
  const world = (given: object = {}) => new WebShop(shop, { ...args, ...rewards, ...given })
  /** Any action that the page allows. */
  const anyAction = (made: WebShop, random: Pcg64) => {
    const actions = made.admissible() ?? ['search[lamp]', 'search[mint kettle]', 'search[★]', 'click[search]']
    return actions[random.below(actions.length - 1)]
  }

  it('whatever is clicked works, and a snapshot is the whole state', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(500), (seed, session) => {
        const [random, made, other] = [new Pcg64(seed), world(), world()]
        made.reset({ row: { id: session % shop.goals.count }, seed: 0 })
        for (let step = 0; step < 15; step++) {
          const action = anyAction(made, random)
          const before = made.snapshot()
          const copy = structuredClone(before)
          const transition = made.step(action)
          expect(transition.metrics?.valid_action).toBe(1)
          other.restore(before)
          expect(other.step(action)).toEqual(transition)
          expect(other.admissible()).toEqual(made.admissible())
          expect(before).toEqual(copy)
          if (transition.done) break
        }
      }),
      { numRuns: 25 },
    )
  })

  it('never throws, whatever is said, and the page stays where that is nothing', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }).map((inside) => `search[${inside}]`),
      fc.constantFrom(
        'click[',
        'click]',
        'search[\u0000]',
        'click[__proto__]',
        'search[<r>]',
        'search[<a> x]',
        'click[[]]',
      ),
    )
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.nat(), (said, seed) => {
        const [random, made] = [new Pcg64(seed), world()]
        made.reset({ row: {}, seed })
        for (const one of said) {
          const before = made.snapshot()
          const { metrics, reward, done } = made.step(one)
          if (metrics?.valid_action === 0) expect([made.snapshot(), reward, done]).toEqual([before, -0.1, false])
          if (done || made.step(anyAction(made, random)).done) return
        }
      }),
    )
  })

  it('takes absurd searches', () => {
    const made = world()
    for (const query of [
      'x'.repeat(1_000_000),
      'lamp '.repeat(50_000),
      '_'.repeat(200_000),
      '\u{1F1E6}'.repeat(9999),
    ]) {
      made.reset({ row: { id: 1 }, seed: 0 })
      expect(made.step(`search[${query}]`)).toMatchObject({ done: false, metrics: { valid_action: 1 } })
    }
    expect(made.step('click[next >]').observation).toMatch(/Page 2 \(Total results: 0\)/)
  })

  it('the row names the goal by its text or a column, and the seed does where it does not', () => {
    const made = world()
    const goal = (given: object) => made.reset({ row: {}, seed: 7, ...given }).goal
    const [third, seventh] = [3, 7].map((session) => shop.goals.goal(session).instruction)
    for (const told of [
      { text: '3' },
      { text: 3, row: { session_id: 9 } },
      { row: { task_desc: ' 3 ' } },
      { row: { id: 3 } },
    ]) {
      expect(goal(told)).toBe(third)
    }
    expect(goal({ text: 'buy a lamp', row: { task_id: 3 } })).toBe(third)
    expect([goal({}), goal({ seed: 7 + shop.goals.count })]).toEqual([seventh, seventh])
    for (const row of [{ id: 'first' }, { session_id: -1 }, { id: 1e9 }, { id: 0.5 }]) {
      expect(() => goal({ row })).toThrow(expect.objectContaining({ code: 'environment/row' }))
    }
  })

  it('a visit without a purchase is worth what its last step earned, or what the argument says', () => {
    const scores = (made: WebShop) => {
      made.reset({ row: { id: 0 }, seed: 0 })
      return ['search[lamp]', 'click[nothing]', 'click[next >]'].map((action) => made.step(action).score)
    }
    expect(scores(world())).toEqual([0, -0.1, 0])
    expect(scores(world({ unfinished_reward: -0.1, invalid_reward: 0 }))).toEqual([-0.1, -0.1, -0.1])
  })

  it('plays as an episode: the goal bought with its options is worth one', async () => {
    const environment = await openEnvironment('webshop', { data, human_goals: false })
    let won = 0
    for (let session = 0; session < 20; session++) {
      const { product, options } = shop.goals.goal(session)
      const persona = webshop.persona({ ...args, ...rewards, prompt: 'r3l' } as never)
      const episode = await Episode.begin({ environment, persona, maxSteps: 15 }, { row: {}, seed: 0, text: session })
      const say = (action: string) => episode.reply(`<think>so</think><action>${action}</action>`)
      await say(`search[${product.title}]`)
      if (!episode.turn.observation.includes(product.asin)) continue
      await say(`click[${product.asin}]`)
      for (const option of options) await say(`click[${option}]`)
      const { done, reward } = await say('click[buy now]')
      expect([done, episode.score, episode.invalid]).toEqual([true, reward, 0])
      if (episode.won) won++
      // Of two options with one value only the last can have it.
      else expect(new Set(options).size).toBeLessThan(options.length)
    }
    expect(won).toBeGreaterThan(10)
    await environment.close()
  })
})

it('says what to do where there are no products', async () => {
  const { WEBSHOP_PATH: before } = process.env
  delete process.env.WEBSHOP_PATH
  await expect(openEnvironment('webshop')).rejects.toMatchObject({
    code: 'environment/data',
    hint: expect.stringMatching(/WEBSHOP_PATH[\s\S]*gdown/),
  })
  process.env.WEBSHOP_PATH = data
  const environment = await openEnvironment('webshop')
  expect((await environment.reset({ row: {}, seed: 0 })).observation).toMatch(/^WebShop\nInstruction: \n/)
  if (before === undefined) delete process.env.WEBSHOP_PATH
  else process.env.WEBSHOP_PATH = before
})
