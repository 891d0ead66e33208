import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { type Environment, type EnvironmentContext, environment, environments, openEnvironment } from './index.js'

/** Registers a world that is made of these parts; answers come when the test wants. */
let made = 0
function world(parts: Partial<Environment>, create?: (context: EnvironmentContext) => Promise<Environment>): string {
  const name = `open_test_${made++}`
  const whole: Environment = {
    reset: () => ({ observation: 'start' }),
    step: (action) => ({ observation: `did ${action}`, reward: 0, done: action === 'end' }),
    ...parts,
  }
  environments.add(
    name,
    environment({
      doc: 'a test',
      args: z.strictObject({ speed: z.number().default(1) }),
      maxSteps: 3,
      create: (_, context) => create?.(context) ?? whole,
      persona: () => ({ prompt: ({ observation }) => observation, action: (reply) => reply }),
    }),
  )
  return name
}
const EPISODE = { row: {}, seed: 1 }
afterEach(() => void vi.useRealTimers())

describe('openEnvironment', () => {
  it('refuses unknown names and arguments, with the nearest that there is', async () => {
    await expect(openEnvironment('gird_world')).rejects.toMatchObject({
      code: 'registry/unknown',
      message: "unknown environment 'gird_world'",
      hint: expect.stringContaining("did you mean 'grid_world'?"),
    })
    await expect(openEnvironment('grid_world', { sise: 3 })).rejects.toMatchObject({
      code: 'args/invalid',
      path: 'environment_args.sise',
      hint: 'did you mean size?',
    })
    await expect(openEnvironment('grid_world', { size: 1, holes: 'no' })).rejects.toThrow(
      /environment 'grid_world': size: .*; holes: /,
    )
  })

  it('does not wait for a world that does not follow its signal, and closes it when it comes', async () => {
    const control = new AbortController()
    const close = vi.fn()
    let arrive = (_: Environment) => {}
    const name = world({}, () => new Promise((resolve) => (arrive = resolve)))
    const opening = openEnvironment(name, {}, { signal: control.signal })
    control.abort(new Error('too slow'))
    await expect(opening).rejects.toThrow('too slow')
    arrive({ reset: vi.fn(), step: vi.fn(), close })
    await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(1))
  })

  it('a step that was cut off: the caller goes on at once, the world is busy until it has ended, then needs a reset', async () => {
    let answer = (_: { observation: string; reward: number; done: boolean }) => {}
    const name = world({ step: () => new Promise((resolve) => (answer = resolve)) })
    const environment = await openEnvironment(name)
    await environment.reset(EPISODE)
    const control = new AbortController()
    const stepping = environment.step('wait', control.signal)
    control.abort(new Error('time'))
    await expect(stepping).rejects.toThrow('time')
    await expect(environment.reset(EPISODE)).rejects.toMatchObject({ code: 'environment/busy' })
    answer({ observation: 'late', reward: 1, done: true })
    await vi.waitFor(() => environment.reset(EPISODE))
    const again = environment.step('wait')
    answer({ observation: 'now', reward: 0, done: false })
    expect(await again).toMatchObject({ observation: 'now' })
  })

  it('gives what a world throws its code, and keeps one that it has', async () => {
    const broken = await openEnvironment(
      world({
        step: (action) => {
          if (action === 'own') throw new TrinityError('environment/row', 'no such game')
          throw new Error('disk full')
        },
      }),
    )
    await broken.reset(EPISODE)
    const failure = { code: 'environment/failed', message: expect.stringMatching(/failed in step: disk full/) }
    await expect(broken.step('x')).rejects.toMatchObject(failure)
    // Where it stands now nobody knows.
    await expect(broken.step('own')).rejects.toMatchObject({ code: 'environment/order' })
    await broken.reset(EPISODE)
    await expect(broken.step('own')).rejects.toMatchObject({ code: 'environment/row', message: 'no such game' })
  })

  it('refuses rewards that are no numbers', async () => {
    const odd = await openEnvironment(world({ step: () => ({ observation: '', reward: Number.NaN, done: false }) }))
    await odd.reset(EPISODE)
    await expect(odd.step('x')).rejects.toMatchObject({ code: 'environment/reward' })
  })

  it('closes the world once, also while a call is on its way; a world may have nothing to close', async () => {
    const close = vi.fn()
    const environment = await openEnvironment(world({ step: () => new Promise(() => {}), close }))
    await environment.reset(EPISODE)
    void environment.step('x')
    await Promise.all([environment.close(), environment.close()])
    expect(close).toHaveBeenCalledTimes(1)
    await (await openEnvironment(world({}))).close()
  })

  it('says so when a world cannot go back, and the episode goes on', async () => {
    const environment = await openEnvironment(world({}))
    await environment.reset(EPISODE)
    expect(environment.canRestore).toBe(false)
    await expect(environment.snapshot()).rejects.toMatchObject({ code: 'environment/no-snapshot' })
    expect(await environment.admissible()).toBeUndefined()
    expect(await environment.step('on')).toMatchObject({ observation: 'did on' })
  })
})
