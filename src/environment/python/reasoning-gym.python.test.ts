import * as vitest from 'vitest'
import { beforeAll, describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment, type Turn } from '../index.js'

const python = testPython('reasoning-gym')
const open = (args: Record<string, unknown> = {}) => openEnvironment('reasoning_gym', { python: python.path, ...args })

if (!python.absent) {
  // the package takes its time to be imported
  beforeAll(async () => (await open({ dataset: 'gcd, lcm' })).close(), 120_000)
  describeEnvironment(vitest, 'reasoning_gym', {
    open: () => open({ dataset: ['chain_sum', 'gcd'], attempts: 3 }),
    episodes: [1, 2, 3].map((seed) => ({ row: {}, seed })),
    actions: ['1', '2', '3'],
    ending: { episode: { row: {}, seed: 1 }, actions: ['no', 'no', 'no'] },
    refused: ({ score }) => score !== undefined && score < 1,
  })
}

describe.skipIf(python.absent)(`families of reasoning-gym${python.note}`, () => {
  it('the number of the row is the index; a row may name family, index, seed, level and configuration', async () => {
    const world = await open({ dataset: 'chain_sum', size: 10 })
    const question = async (row: Record<string, unknown>, seed = 3) => (await world.reset({ row, seed })).observation
    expect(await question({})).toBe(await question({ index: 3 }, 5))
    expect(await question({}, 13)).toBe(await question({}, 3))
    expect(await question({ seed: 1 })).not.toBe(await question({ seed: 2 }))
    expect(await question({ name: 'gcd' })).toMatch(/Greatest Common Divisor/)
    const digits = async (difficulty: number) => {
      const asked: string[] = []
      for (let index = 0; index < 10; index++) asked.push(await question({ difficulty, index }))
      return Math.max(...asked.flatMap((text) => text.match(/\d+/g)?.map(({ length }) => length) ?? []))
    }
    expect(await digits(4)).toBeGreaterThan(await digits(0))
    const config = { min_terms: 6, max_terms: 6, min_digits: 1, max_digits: 1 }
    expect(await question({ config })).toMatch(/\d( [+-] \d){5} =/)
    await world.close()
  })

  it('is worth what the package says, at once or after some attempts', async () => {
    const world = await open({ dataset: ['chain_sum'], config: { min_digits: 1, max_digits: 1 } })
    const { observation } = await world.reset({ row: {}, seed: 0 })
    const sum = /(\d(?: [+-] \d)+) =/.exec(observation)?.[1] as string
    const right = String(
      sum
        .replaceAll(' ', '')
        .match(/[+-]?\d/g)
        ?.reduce((total, term) => total + Number(term), 0),
    )
    expect(await world.step(right)).toEqual({
      observation: '',
      reward: 1,
      score: 1,
      done: true,
      won: true,
      metrics: { judge_failed: 0 },
    })
    await world.reset({ row: {}, seed: 0 })
    // the package gives a part for an answer that holds the right one
    const { reward } = await world.step(`it is ${right}`)
    expect(reward).toBeGreaterThan(0)
    expect(reward).toBeLessThan(1)
    const patient = await open({ dataset: ['chain_sum'], attempts: 3, config: { min_digits: 1, max_digits: 1 } })
    await patient.reset({ row: {}, seed: 0 })
    expect(await patient.step('no')).toMatchObject({
      reward: 0,
      score: 0,
      done: false,
      observation: expect.stringContaining('again'),
    })
    expect(await patient.step(right)).toMatchObject({ reward: 1, done: true, won: true })
    for (const one of [world, patient]) await one.close()
  })

  it('mixes by weight, the same for the same seed', async () => {
    const dataset = [
      { name: 'gcd', weight: 3 },
      { name: 'lcm', weight: 1, config: { max_value: 9 } },
    ]
    const world = await open({ dataset, size: 200 })
    const other = await open({ dataset, size: 200 })
    let gcds = 0
    for (let seed = 0; seed < 200; seed++) {
      const { observation } = await world.reset({ row: {}, seed })
      if (observation.includes('Greatest')) gcds++
      if (seed < 5) expect(await other.reset({ row: {}, seed })).toEqual({ observation })
    }
    expect(gcds).toBeGreaterThan(120)
    expect(gcds).toBeLessThan(180)
    for (const one of [world, other]) await one.close()
  })

  it('what is wrong is said where it stands', async () => {
    await expect(open({ dataset: ['chain_sun'] })).rejects.toMatchObject({
      code: 'environment/setup',
      message: expect.stringContaining("'chain_sun'"),
      hint: "did you mean 'chain_sum'?",
    })
    await expect(open({ dataset: ['gcd'], config: { depth: 1 } })).rejects.toThrow("gcd has no argument 'depth'")
    await expect(open({ dataset: ['acre'], difficulty: 1 })).rejects.toThrow('no levels of difficulty')
    const world = await open()
    await expect(world.reset({ row: {}, seed: 1 })).rejects.toMatchObject({ code: 'environment/row' })
    await expect(world.reset({ row: { name: 'gcd', index: -1 }, seed: 1 })).rejects.toMatchObject({
      code: 'environment/row',
    })
    expect((await world.reset({ row: { name: 'gcd', index: 2 }, seed: 1 })).observation).toContain('Greatest')
    await world.close()
  })
})

describe('how a model is asked', () => {
  const turn: Turn = { step: 0, maxSteps: 1, observation: '1 + 1 =', past: [] }
  const persona = (args = {}) => {
    const { entry, args: checked } = environmentOf('reasoning_gym', args)
    return entry.persona(checked)
  }
  it('in tags, unless there are other rules or none', () => {
    expect(persona().system?.(turn)).toContain('<answer>')
    expect(persona({ system: 'Answer.' }).system?.(turn)).toBe('Answer.')
    expect(persona({ system: '' }).system).toBeUndefined()
    expect(persona().prompt(turn)).toBe('1 + 1 =')
  })
  it.each([
    ['<answer>3</answer> no, <answer>\n2 </answer>.', '2'],
    [' 2\n', '2'],
  ])('%j means %j', (reply, answer) => expect(persona().action(reply, turn)).toBe(answer))
})
