import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../../../base/random/index.js'
import { HOUSES, type House, rowOf } from '../house.fixture.js'
import { AlfWorld } from '../world.js'
import { aimOf } from './aim.js'

async function open(house: House) {
  const world = new AlfWorld()
  await world.reset({ row: rowOf(house), seed: 0 })
  return world
}

function finish(world: AlfWorld): string[] {
  const commands: string[] = []
  for (let next = world.expert(); next !== undefined && commands.length < 50; next = world.expert()) {
    commands.push(next)
    world.step(next)
  }
  return commands
}

const house = (name: string) => HOUSES.find((one) => one.name === name)!

describe('Expert', () => {
  it('goes straight for the goal, whatever kind it is', async () => {
    const ways: Record<string, string[]> = {}
    for (const one of HOUSES) {
      const world = await open(one)
      ways[one.name] = finish(world)
      expect(world.isWon, one.name).toBe(true)
      expect(world.expert()).toBeUndefined()
    }
    expect(ways.put).toEqual([
      'go to fridge 1',
      'open fridge 1',
      'take bread 1 from fridge 1',
      'go to countertop 1',
      'move bread 1 to countertop 1',
    ])
    expect(ways.clean).toHaveLength(6)
    expect(ways.heat).toHaveLength(5)
    expect(ways.cool).toHaveLength(7)
    expect(ways.two).toHaveLength(9)
    expect(ways.light).toHaveLength(4)
  })

  it('finds back from anywhere', async () => {
    for (const one of HOUSES) {
      const world = await open(one)
      const start = world.snapshot()
      for (let seed = 0; seed < 25; seed++) {
        const random = new Pcg64(seed)
        world.restore(start)
        for (let step = 0; step < 30 && !world.isWon; step++) {
          const possible = world
            .admissible()
            .filter((command) => !command.startsWith('go to ') || random.random() < 0.4)
          world.step(possible[random.below(possible.length - 1)])
        }
        const way = finish(world)
        expect(world.isWon, `${one.name} ${seed}: ${way.join(', ')}`).toBe(true)
        expect(way.length).toBeLessThanOrEqual(14)
      }
    }
  })

  it('puts away what is in the way, here if it can', async () => {
    const world = await open(house('put'))
    for (const command of ['go to sinkbasin 1', 'take plate 2 from sinkbasin 1']) world.step(command)
    expect(finish(world).slice(0, 2)).toEqual(['move plate 2 to sinkbasin 1', 'go to fridge 1'])
  })

  it('does not do again what is done', async () => {
    const world = await open(house('heat'))
    for (const command of ['go to countertop 1', 'take apple 2 from countertop 1', 'heat apple 2 with microwave 1'])
      world.step(command)
    expect(finish(world)).toEqual(['go to cabinet 1', 'move apple 2 to cabinet 1'])
  })

  it('has nothing to say about goals that it does not know, or that nobody can reach', async () => {
    const strange = { ...house('put'), goal: '(exists (?r - receptacle) (opened ?r))' }
    expect((await open(strange)).expert()).toBeUndefined()
    const hopeless = { ...house('put'), furniture: house('put').furniture.filter(({ kind }) => kind !== 'Fridge') }
    expect((await open(hopeless)).expert()).toBeUndefined()
    expect(aimOf({ kind: 'and', parts: [] })).toBeUndefined()
  })
})
