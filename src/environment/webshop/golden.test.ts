import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeCatalogue } from './catalogue.fixture.js'
import { openShop, type Shop } from './shop.js'
import { WebShop } from './world.js'

type Step = [action: string, observation: string, reward: number, clickables: string]
interface Kind {
  goals: number
  instructions: string[] | string
  visits: { session: number; start: string; steps: Step[] }[]
}
// Written by Python: the original's templates, rules and random numbers. Long texts are kept as their hashes.
const golden: Record<'human' | 'synthetic', Kind> = JSON.parse(
  readFileSync(new URL('./golden-visits.json', import.meta.url), 'utf8'),
)
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const like = (expected: string, text: string) => (/^[0-9a-f]{16}$/.test(expected) ? hash(text) : text)

const data = writeCatalogue()
afterAll(() => rmSync(data, { recursive: true }))

describe.each(['human', 'synthetic'] as const)('a shop with %s goals, as the original in Python', (kind) => {
  const human = kind === 'human'
  const { goals, instructions, visits } = golden[kind]
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ data, num_products: null, human_goals: human, seed: 0 })
  })

  it('has the same goals under the same numbers, with the same limits', () => {
    const all = Array.from({ length: shop.goals.count }, (_, i) => shop.goals.goal(i).instruction)
    expect(all).toHaveLength(goals)
    expect(typeof instructions === 'string' ? hash(all.join('\n')) : all).toEqual(instructions)
  })

  it('shows the same pages, takes the same clicks and gives the same rewards', () => {
    const world = new WebShop(shop, { show_attrs: !human, invalid_reward: -0.1, unfinished_reward: null })
    const clickables = () => world.admissible()?.map((action) => action.slice('click['.length, -1)) ?? ['search']
    let bought = 0
    for (const { session, start, steps } of visits) {
      const { observation } = world.reset({ row: { session_id: session }, seed: 0 })
      expect(like(start, observation)).toBe(start)
      for (const [action, seen, reward, buttons] of steps) {
        const transition = world.step(action)
        expect(like(seen, transition.observation)).toBe(seen)
        expect(transition.reward).toBe(reward)
        if (transition.done) bought++
        else expect(hash(JSON.stringify(clickables()))).toBe(buttons)
      }
    }
    expect(visits.length).toBeGreaterThan(10)
    expect(bought).toBeGreaterThan(4)
  })
})
