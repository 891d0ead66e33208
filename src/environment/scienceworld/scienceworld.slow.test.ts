import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { bundle } from '../../../test/bundle.js'
import { runs } from '../../../test/support/processes.js'
import { scienceWorldArgs } from './args.js'
import { ScienceWorld, taskVariations } from './index.js'
import { call } from './py4j/command.js'
import { JavaReference } from './py4j/value.js'
import { realSimulator } from './real.fixture.js'
import { SimulatorPool } from './simulator/pool.js'
import { Session } from './simulator/session.js'

const { jar, absent, note } = realSimulator()
const opened: ScienceWorld[] = []
afterEach(() => {
  for (const world of opened.splice(0)) world.close()
})
function open(args: object = {}): ScienceWorld {
  const world = new ScienceWorld(scienceWorldArgs.parse({ jar_path: jar, processes: 1, timeout: 300, ...args }))
  opened.push(world)
  return world
}
const WALK =
  `look around|teleport to greenhouse|look around|wait1|open bee hive|look around|wait1|teleport to kitchen|look around|
open cupboard|pick up thermometer|use thermometer on sink|teleport to outside|wait1|look around`
    .replaceAll('\n', '')
    .split('|')
const TASKS = ['boil', 'power-component', 'grow-plant', 'find-animal', 'mendelian-genetics-known-plant']
const begin = (world: ScienceWorld, task: string, variation = 1) =>
  world.reset({ row: { task_name: task, var_num: variation }, seed: 0 })
async function walk(world: ScienceWorld, task: string): Promise<unknown[]> {
  const seen: unknown[] = [await begin(world, task)]
  for (const action of WALK) seen.push(await world.step(action))
  return seen
}

describe.skipIf(absent)(`the real simulator${note}`, { timeout: 900_000 }, () => {
  it('knows its tasks', async () => {
    const variations = await taskVariations(jar)
    expect(variations.size).toBe(30)
    expect([...variations.values()].reduce((sum, count) => sum + count, 0)).toBe(7207)
  })

  it('20 episodes at once in two processes are what each is alone', async () => {
    const alone = []
    for (const task of TASKS) alone.push(await walk(open(), task))
    const both = Array.from({ length: 20 }, () => open({ processes: 2 }))
    const seen = await Promise.all(both.map((world, i) => walk(world, TASKS[i % TASKS.length])))
    for (const [i, one] of seen.entries()) expect(one).toEqual(alone[i % TASKS.length])
  })

  it('a killed process is an error of its episode, and the next has another', async () => {
    const pool = new SimulatorPool({ jar, heapMb: 256, timeoutMs: 300_000, processes: 1 })
    const game = await pool.take()
    const setting = { task: 'boil', variation: 0, simplifications: 'easy' }
    const { frame } = await game.load(setting)
    const stepping = game.step('wait')
    process.kill(game.simulator.pid as number, 'SIGKILL')
    await expect(stepping).rejects.toMatchObject({
      code: 'environment/simulator-died',
      message: expect.stringContaining('SIGKILL'),
    })
    pool.release(game)
    const next = await pool.take()
    expect(await next.load(setting)).toMatchObject({ frame })
    next.simulator.end()
  })

  it('an episode whose process was killed at the step of another goes on as if nothing had happened', async () => {
    const pool = new SimulatorPool({ jar, heapMb: 256, timeoutMs: 300_000, processes: 1 })
    const setting = { task: 'mendelian-genetics-known-plant', variation: 1, simplifications: 'easy' }
    const begun = async () => {
      const session = new Session(pool)
      await session.begin(async () => setting)
      return session
    }
    const [undisturbed, guilty, other] = [await begun(), await begun(), await begun()]
    const expected = []
    for (const action of WALK) expected.push(await undisturbed.step(action))
    const seen = []
    for (const action of WALK.slice(0, 8)) seen.push(await other.step(action))
    const { simulator } = await pool.take()
    const stepping = guilty.step('wait')
    process.kill(simulator.pid as number, 'SIGKILL')
    await expect(stepping).rejects.toMatchObject({ code: 'environment/simulator-died' })
    await expect(guilty.step('wait')).rejects.toMatchObject({ code: 'environment/order' })
    for (const action of WALK.slice(8)) seen.push(await other.step(action))
    expect(seen).toEqual(expected)
    ;(await pool.take()).simulator.end()
  })

  it('lets go of what it was given', async () => {
    const pool = new SimulatorPool({ jar, heapMb: 256, timeoutMs: 300_000, processes: 1 })
    const [one, other] = [await pool.take(), await pool.take()]
    const seat = await one.simulator.takeSeat()
    /** Objects that Java keeps for us. */
    const kept = async () => {
      const ask = async (target: JavaReference, method: string) =>
        (await one.simulator.play(seat, 'counting', [call(target, method)]))[0] as JavaReference
      const gateway = await ask(new JavaReference('GATEWAY_SERVER'), 'getGateway')
      return Number(await ask(await ask(gateway, 'getBindings'), 'size'))
    }
    const turns = async () => {
      for (const [i, task] of TASKS.entries()) {
        const setting = { task, variation: i, simplifications: 'easy' }
        await Promise.all([one.load(setting), other.load({ ...setting, task: TASKS[0] })])
        await Promise.all([one.step('wait1'), other.step('inventory')])
        await one.validActions()
        await expect(one.load({ ...setting, variation: -1 })).rejects.toMatchObject({ code: 'environment/java' })
      }
    }
    await turns()
    const before = await kept()
    await turns()
    // those that were asked for here
    expect((await kept()) - before).toBe(2)
    one.simulator.end()
  })

  it('holds as many episodes as it has seats', async () => {
    const pool = new SimulatorPool({ jar, heapMb: 256, timeoutMs: 600_000, processes: 1 })
    const games = await Promise.all(Array.from({ length: 85 }, () => pool.take()))
    expect(new Set(games.map(({ simulator }) => simulator.pid)).size).toBe(1)
    const waiting = pool.take()
    await Promise.all(
      games.map(async (game, i) => {
        await game.load({ task: TASKS[i % TASKS.length], variation: 0, simplifications: 'easy' })
        for (let step = 0; step < 5; step++) await game.step('wait')
      }),
    )
    pool.release(games[0])
    expect((await waiting).simulator.pid).toBe(games[0].simulator.pid)
    games[0].simulator.end()
  })

  it('lists what is in closed containers, and then does not find it, as the real package does', async () => {
    const world = open({ admissible: true })
    await begin(world, 'power-component')
    const listed = await world.admissible()
    expect(listed).toContain('open drawer')
    expect(await world.admissible()).toEqual(listed)
    expect(await world.step('open drawer')).toMatchObject({ metrics: { valid_action: 0 } })
  })

  it('listing does not change what happens by chance', async () => {
    const bees = ['teleport to greenhouse', 'open bee hive', ...Array(8).fill('wait1'), 'look around']
    const seen = []
    for (const admissible of [false, true]) {
      const world = open({ admissible })
      await begin(world, 'mendelian-genetics-known-plant')
      const all = []
      for (const action of bees) {
        all.push((await world.step(action)).observation)
        await world.admissible()
      }
      seen.push(all)
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0].join()).toContain('bee')
  })

  it('reaches the goal on the way that it knows itself', async () => {
    const world = open({ env_step_limit: 1000 })
    await begin(world, 'find-plant')
    const way = await world.walkthrough()
    let last: unknown
    for (const action of way) {
      last = await world.step(action)
      if ((last as { done: boolean }).done) break
    }
    expect(last).toMatchObject({ done: true, won: true, score: 1 })
  })

  it('ends an episode at its limit, at a mistake and at the goal', async () => {
    const world = open({ env_step_limit: 20 })
    await begin(world, 'find-plant')
    expect(await world.step('wait')).toMatchObject({ done: false })
    expect(await world.step('wait')).toMatchObject({ done: true, won: false })
    await begin(world, 'find-plant')
    // Being in a room with a plant is worth something from the beginning.
    expect(await world.step('focus on agent')).toMatchObject({ done: true, won: false, reward: -1.08, score: 0.08 })
  })

  it('ends when our process is killed', async () => {
    const program = await bundle(fileURLToPath(new URL('./simulator/owner.fixture.ts', import.meta.url)))
    const owner = spawn(process.execPath, [program, jar], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await once(owner.stdout, 'data')
    expect(runs(Number(said))).toBe(true)
    owner.kill('SIGKILL')
    await expect.poll(() => runs(Number(said)), { timeout: 60_000 }).toBe(false)
  })
})
