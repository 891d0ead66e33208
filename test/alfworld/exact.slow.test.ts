import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../../src/base/random/index.js'
import { HOUSES, type House, rowOf } from '../../src/environment/alfworld/house.fixture.js'
import { AlfWorld } from '../../src/environment/alfworld/index.js'
import { openDataset } from '../../src/task/index.js'
import { makeData } from '../support/made-data.js'
import { testPython } from '../support/python.js'
import { testData } from '../support/test-data.js'
import { gamesIn } from './games.js'
import { goldenTraces, writeGoldenTraces } from './golden.js'
import { type Asked, askOracle, expectSame } from './trace.js'

const python = testPython('textworld', 'alfworld')
const data = testData('alfworld/games')

/** Games of the data set that are played side by side; each takes the real one ten seconds. */
const GAMES = Number(process.env.TRINITY_ALFWORLD_GAMES ?? 100)

/** The texts that came with the games. */
function originalLogic() {
  const read = (name: string) => readFileSync(testData(`alfworld/logic/${name}`).path, 'utf8')
  const grammar = read('grammar_2.1.1_template.twl2')
  return {
    pddl_domain: read('alfred_2.1.1_from_games.pddl'),
    grammarOf: (task: string) => grammar.replace('__TASK__', task),
  }
}

/** The expert's way, a walk at random, and the tour of the house. */
async function asked(house: House, seed: number): Promise<Asked[]> {
  const row = rowOf(house) as unknown as Asked
  const world = new AlfWorld()
  await world.reset({ row: { ...row }, seed: 0 })
  const plan: string[] = []
  for (let next = world.expert(); next !== undefined; next = world.expert()) {
    plan.push(next)
    world.step(next)
  }
  return [
    { ...row, commands: plan },
    { ...row, walkthrough: plan, seed, steps: 50 },
    ...(house.tour ? [{ ...row, commands: house.tour }] : []),
  ]
}

describe(`the real textworld${python.note}`, () => {
  it.skipIf(python.absent)('plays our houses as the golden traces say', { timeout: 1_800_000 }, async () => {
    const games = (await Promise.all(HOUSES.map(asked))).flat()
    const traces = askOracle(python.path, games)
    if (process.env.UPDATE_GOLDEN) writeGoldenTraces(traces)
    expect(traces).toEqual(goldenTraces())
  })

  it.skipIf(python.absent || data.absent)(
    `plays ${GAMES} games of ALFWorld as we do, with the games' own texts and with ours${data.note}`,
    { timeout: 6 * 3_600_000 },
    async () => {
      const { pddl_domain, grammarOf } = originalLogic()
      const all = ['valid_seen', 'train'].flatMap(gamesIn)
      new Pcg64(5).shuffle(all)
      const rows = all.slice(0, GAMES)
      const games = rows.map((row, seed) => ({ ...row, pddl_domain, grammar: grammarOf(row.task), seed, steps: 40 }))
      for (const [at, game] of games.entries()) {
        const [trace] = askOracle(python.path, [game])
        await expectSame(trace, game)
        await expectSame(trace, { ...rows[at] })
      }
    },
  )
})

describe(`the games of ALFWorld${data.note}`, () => {
  it.skipIf(data.absent)('are all won by their walkthroughs, and by the expert', { timeout: 600_000 }, async () => {
    const world = new AlfWorld()
    const longer: number[] = []
    for (const row of ['train', 'valid_train', 'valid_seen'].flatMap(gamesIn)) {
      await world.reset({ row: { ...row }, seed: 0 })
      expect(row.walkthrough.map((command) => world.step(command).done).at(-1), row.id).toBe(true)
      await world.reset({ row: { ...row }, seed: 0 })
      let steps = 0
      for (let next = world.expert(); next !== undefined; next = world.expert()) {
        world.step(next)
        steps++
      }
      expect(world.isWon, row.id).toBe(true)
      longer.push(steps - row.walkthrough.length)
    }
    // The walkthroughs are a planner's: none is shorter, and few are not as short.
    expect(longer.length).toBe(3893)
    expect(Math.min(...longer)).toBe(0)
    expect(longer.filter((more) => more > 0).length / longer.length).toBeLessThan(0.03)
  })

  it.skipIf(data.absent)('are won by the expert from wherever chance leads', { timeout: 600_000 }, async () => {
    const world = new AlfWorld()
    let lost = 0
    for (const [seed, row] of gamesIn('valid_seen').entries()) {
      const random = new Pcg64(seed)
      await world.reset({ row: { ...row }, seed: 0 })
      for (let step = 0; step < 60 && !world.isWon; step++) {
        const commands = world.admissible().filter((one) => !one.startsWith('go to ') || random.random() < 0.3)
        world.step(commands[random.below(commands.length - 1)])
      }
      let steps = 0
      for (let next = world.expert(); next !== undefined && steps < 40; next = world.expert(), steps++) world.step(next)
      if (world.isWon) continue
      // Some things can be taken, but no place takes them: whoever holds one has lost.
      expect(canPutDown(world), `${row.id} after ${steps} steps`).toBe(false)
      lost++
    }
    expect(lost).toBeLessThan(5)
  })

  it.skipIf(data.absent)('become the task set of the study', { timeout: 600_000 }, async () => {
    const made = await makeData('alfworld', { from: data.path })
    const count = async (split: string) => (await openDataset({ path: made.folder, split })).length
    expect([await count('train'), await count('test')]).toEqual([3553, 140])
  })
})

/** Goes everywhere, opens everything, and looks whether the object in hand could be put there. */
function canPutDown(world: AlfWorld): boolean {
  for (const walk of world.admissible().filter((command) => command.startsWith('go to '))) {
    world.step(walk)
    for (const open of world.admissible().filter((command) => command.startsWith('open '))) world.step(open)
    if (world.admissible().some((command) => command.startsWith('move '))) return true
  }
  return false
}
