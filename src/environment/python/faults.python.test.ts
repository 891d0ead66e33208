import { afterEach, describe, expect, it } from 'vitest'
import { runs } from '../../../test/support/processes.js'
import { testPython } from '../../../test/support/python.js'
import { type OpenEnvironment, openEnvironment } from '../index.js'

const python = testPython('gymnasium')
const opened: OpenEnvironment[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function faulty(timeout = 20, seed = 1): Promise<OpenEnvironment> {
  const args = { id: 'tests.world.faulty:Faulty-v0', python: python.path, timeout }
  const world = await openEnvironment('gymnasium', args)
  opened.push(world)
  expect(await world.reset({ row: {}, seed })).toEqual({ observation: `seed ${seed}` })
  return world
}
const causeOf = (error: unknown) => String((error as Error).cause)
const failing = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error) => error,
  )

describe.skipIf(python.absent)(`what goes wrong in an environment${python.note}`, () => {
  it('an exception fails its episode, with the end of the traceback; the worker goes on', async () => {
    const [bad, good] = [await faulty(), await faulty()]
    const [error, { observation }] = await Promise.all([failing(bad.step('raise luck')), good.step('ok')])
    expect(error).toMatchObject({
      code: 'environment/failed',
      message: expect.stringMatching(/step: ValueError: bad luck \(faulty\.py:\d+, in step\)$/),
    })
    expect(causeOf(error)).toMatch(/faulty\.py", line \d+, in step\n.*raise ValueError/s)
    expect(observation).toBe('ok')
    expect(await failing(bad.step('ok'))).toMatchObject({ code: 'environment/order' })
    expect(await bad.reset({ row: {}, seed: 4 })).toEqual({ observation: 'seed 4' })
    expect(await failing(bad.step('quit'))).toMatchObject({
      code: 'environment/failed',
      message: expect.stringContaining('SystemExit'),
    })
  })

  it('a worker that dies takes its episodes along, with its last lines; they begin again in another', async () => {
    const [one, other] = [await faulty(), await faulty()]
    const error = await failing(one.step('die'))
    expect(error).toMatchObject({ code: 'environment/worker-died', message: expect.stringContaining('exit code 9') })
    expect(causeOf(error)).toContain('about to die')
    expect(await failing(other.step('ok'))).toMatchObject({ code: 'environment/worker-died' })
    for (const world of [one, other]) {
      expect(await world.reset({ row: {}, seed: 2 })).toEqual({ observation: 'seed 2' })
      expect(await world.step('ok')).toMatchObject({ observation: 'ok' })
    }
  })

  it.each(['hang', 'spin'])('a step that does not end (%s) is cut off, and its worker replaced', async (word) => {
    const world = await faulty(1)
    const child = Number((await world.step('child')).observation)
    expect(runs(child)).toBe(true)
    expect(await failing(world.step(word))).toMatchObject({
      code: 'environment/timeout',
      message: expect.stringContaining('step: no answer within 1 s'),
    })
    // what the environment had started is gone with it
    await expect.poll(() => runs(child)).toBe(false)
    await world.reset({ row: {}, seed: 2 })
    expect(await world.step('ok')).toMatchObject({ observation: 'ok' })
  })

  it('a slow step does not hold back the answers before it', async () => {
    const [quick, slow] = [await faulty(), await faulty()]
    const order: string[] = []
    await Promise.all([
      quick.step('sleep 0.05').then(() => order.push('quick')),
      slow.step('sleep 0.6').then(() => order.push('slow')),
      new Promise((resolve) => setTimeout(resolve, 350)).then(() => order.push('meanwhile')),
    ])
    expect(order).toEqual(['quick', 'meanwhile', 'slow'])
  })

  it('what it prints goes to the log, and what it reads is empty', async () => {
    const world = await faulty()
    expect(await world.step('print')).toMatchObject({ observation: 'print' })
    expect(await world.step('noise')).toMatchObject({ observation: 'noise' })
    expect(await world.step('input')).toMatchObject({ observation: "''" })
    expect(causeOf(await failing(world.step('die')))).toMatch(/hello.*from a child.*noise/s)
  })

  it('rewards that are no numbers are refused', async () => {
    const world = await faulty()
    for (const [word, shown] of [
      ['nan', 'NaN'],
      ['inf', 'Infinity'],
      ['-inf', '-Infinity'],
    ]) {
      await world.reset({ row: {}, seed: 2 })
      expect(await failing(world.step(`reward ${word}`))).toMatchObject({
        code: 'environment/reward',
        message: expect.stringContaining(`the reward ${shown}`),
      })
    }
    await world.reset({ row: {}, seed: 2 })
    expect(await world.step('reward 0.25')).toMatchObject({ reward: 0.25 })
  })

  it('long observations arrive, too long ones are refused alone', async () => {
    const worlds = [await faulty(), await faulty(), await faulty()]
    const [long, longer, short] = await Promise.allSettled([
      worlds[0].step('huge 9000000'),
      worlds[1].step('huge 20000000'),
      worlds[2].step('ok'),
    ])
    expect((long as PromiseFulfilledResult<{ observation: string }>).value.observation).toHaveLength(9_000_000)
    expect(longer).toMatchObject({ reason: { code: 'environment/too-large' } })
    expect(short).toMatchObject({ value: { observation: 'ok' } })
  })

  it('text that is not UTF-8 is mended both ways', async () => {
    const world = await faulty()
    expect((await world.step('half')).observation).toBe('half ?')
    expect((await world.step('bytes')).observation).toBe('\uFFFD\uFFFD bytes')
    const { observation, metrics } = await world.step('cut \ud83d')
    expect(observation).toMatch(/^not an action: cut \uFFFD is not in/)
    expect(metrics).toEqual({ valid_action: 0 })
  })

  it('knows success from what the environment says of it', async () => {
    const world = await faulty()
    expect(await world.step('end well')).toMatchObject({ done: true, won: true })
    await world.reset({ row: {}, seed: 2 })
    expect(await world.step('end badly')).not.toHaveProperty('won')
  })

  it('passes on the options of a row', async () => {
    const world = await faulty(1)
    const error = await failing(world.reset({ row: { options: { sleep: 30 } }, seed: 1 }))
    expect(error).toMatchObject({ code: 'environment/timeout', message: expect.stringContaining('reset') })
    expect(await failing(world.reset({ row: { options: 'none' }, seed: 1 }))).toMatchObject({ code: 'environment/row' })
  })
})
