import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type OpenEnvironment, openEnvironment } from '../index.js'
import { fakeJar, fakeJavaHome } from './fake-java.fixture.js'

/** Tests of what goes wrong, with a program in the place of Java; scienceworld.slow.test.ts has the real one. */
let jar: string
beforeAll(async () => {
  jar = await fakeJar()
  vi.stubEnv('JAVA_HOME', await fakeJavaHome())
  return () => vi.unstubAllEnvs()
})
const opened: OpenEnvironment[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})
async function worlds(count: number, args: object = {}): Promise<OpenEnvironment[]> {
  const own = { jar_path: jar, processes: 1, timeout: 20, ...args }
  const made = await Promise.all(Array.from({ length: count }, () => openEnvironment('scienceworld', own)))
  opened.push(...made)
  return made
}
const row = { task_name: 'boil', var_num: 3 }
const begin = (world: OpenEnvironment, signal?: AbortSignal) => world.reset({ row, seed: 0 }, signal)
const failing = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error) => error,
  )

describe('what goes wrong with a simulator', () => {
  it('none of it, in many worlds at once', async () => {
    const all = await worlds(20, { processes: 2 })
    const starts = await Promise.all(all.map((world) => begin(world)))
    expect(new Set(starts.map(({ observation }) => observation))).toEqual(
      new Set(['Task Description: Your task is to wait.\nYou look around']),
    )
    const seen = await Promise.all(all.map(async (world, i) => (await world.step(`wait ${i}\n"`)).observation))
    expect(seen).toEqual(all.map((_, i) => `You wait ${i}\n"`))
  })

  it('a simulator that dies costs the episode that it was at, with its last lines; the others go on in another', async () => {
    const [one, other] = await worlds(2)
    await Promise.all([begin(one), begin(other)])
    const [error, step] = await Promise.all([failing(one.step('die')), other.step('wait')])
    expect(error).toMatchObject({
      code: 'environment/simulator-died',
      message: 'a simulator of ScienceWorld ended with exit code 9',
      cause: { message: expect.stringContaining('about to die') },
    })
    expect(step).toMatchObject({ observation: 'You wait', score: 0.25, reward: 0 })
    await begin(one)
    expect(await one.step('wait')).toMatchObject({ observation: 'You wait', score: 0.25, reward: 0 })
  })

  it('what does not end is cut off: its episode is lost, and the others are played again up to where they were', async () => {
    const [world, other, late] = await worlds(3, { timeout: 1, admissible: true })
    await Promise.all([begin(world), begin(other), begin(late)])
    for (const action of ['note one', 'note two']) await other.step(action)
    await late.step('note three')
    const [error, step] = await Promise.all([failing(world.step('hang')), other.step('recall')])
    expect(error).toMatchObject({
      code: 'environment/timeout',
      message: 'a step: Java did not answer within 1 s',
      hint: expect.stringContaining('this episode is lost'),
    })
    expect(step).toMatchObject({ observation: 'You look around, note one, note two' })
    expect(await late.step('recall')).toMatchObject({ observation: 'You look around, note three' })
    await begin(world)
    expect(await world.step('recall')).toMatchObject({ observation: 'You look around' })
  })

  it('a hang does not disturb an episode that begins', async () => {
    const [world, other] = await worlds(2, { timeout: 1 })
    await begin(world)
    const [, start] = await Promise.all([failing(world.step('hang')), begin(other)])
    expect(start).toMatchObject({ goal: 'Your task is to wait.' })
  })

  it.each([
    ['garbage', 'environment/py4j'],
    ['close', 'environment/connection'],
    ['throw', 'environment/java'],
  ])('a simulator that answers with %s', async (action, code) => {
    const [world] = await worlds(1)
    await begin(world)
    expect(await failing(world.step(action))).toMatchObject({ code })
    expect(await failing(world.step('wait'))).toMatchObject({ code: 'environment/order' })
    await begin(world)
    expect(await world.step('wait')).toMatchObject({ observation: 'You wait' })
  })

  it('a call that was cut off does not disturb what comes after it', async () => {
    const [world, other] = await worlds(2)
    await Promise.all([begin(world), begin(other)])
    const stepping = world.step('sleep', AbortSignal.timeout(50))
    await expect(stepping).rejects.toMatchObject({ name: 'TimeoutError' })
    await world.close()
    expect(await other.step('wait')).toMatchObject({ observation: 'You wait' })
    const [next] = await worlds(1)
    await begin(next)
    expect(await next.step('wait')).toMatchObject({ observation: 'You wait' })
  })
})

describe('what is wrong with a row or an argument', () => {
  it.each([
    [{ task_name: 'boyl', var_num: 0 }, "no task 'boyl'", 'did you mean boil?'],
    [{ task_name: 'boil', var_num: 30 }, 'no variation 30', 'from 0 to 29'],
    [{ task_name: 'boil', var_num: -1 }, "column 'var_num'", ''],
    [{ task_name: 'boil' }, "column 'var_num'", ''],
    [{ task_desc: '{"task_name": ' }, 'it is no JSON', ''],
    [{ task_desc: '[]' }, "no task '[]'", 'its tasks are boil, find-plant, freeze'],
    [{}, 'expected the task as JSON', ''],
  ])('%o', async (given, message, hint) => {
    const [world] = await worlds(1)
    const error = await failing(world.reset({ row: given, seed: 0 }))
    expect(error.message).toContain(message)
    expect(error.hint ?? '').toContain(hint)
    await begin(world)
  })

  it('arguments', async () => {
    await expect(openEnvironment('scienceworld', { simplifications: 'easy,openDoors' })).rejects.toThrow(
      "expected 'easy'",
    )
    await expect(openEnvironment('scienceworld', { reward_mode: 'max' })).rejects.toMatchObject({
      code: 'args/invalid',
    })
    const [world] = await worlds(1, { jar_path: '/no/such.jar' })
    await expect(begin(world)).rejects.toMatchObject({ code: 'environment/jar' })
    vi.stubEnv('JAVA_HOME', '/no/such/java')
    const [none] = await worlds(1, { timeout: 21 })
    await expect(begin(none)).rejects.toMatchObject({ code: 'environment/java-missing' })
  })
})
