import { setTimeout as sleep } from 'node:timers/promises'
import { Pcg64 } from '../base/random/index.js'
import type { EpisodeSpec, OpenEnvironment, Transition } from '../environment/index.js'
import type { TestRunner } from './runner.js'

/** An environment, and what the suite has to know to try it. */
export interface EnvironmentUnderTest {
  open(): Promise<OpenEnvironment>
  /** Episodes that differ from each other. */
  episodes: readonly EpisodeSpec[]
  /** Actions for worlds that do not list them. */
  actions?: readonly string[]
  /** Leads to the end of its episode. */
  ending: { episode: EpisodeSpec; actions: readonly string[] }
  /** Does the answer to an action say that it was none? */
  refused(transition: Transition): boolean
  /** Steps of a walk; simulators in other processes take fewer. */
  steps?: number
}

/**
 * What every environment must do, whatever world it is. Each environment's own test file calls this with itself.
 * @example
 * import { openEnvironment } from 'trinity-rft'
 * import { describeEnvironment } from 'trinity-rft/testing'
 * import * as vitest from 'vitest'
 *
 * describeEnvironment(vitest, 'grid_world', {
 *   open: () => openEnvironment('grid_world', { holes: 0.2 }),
 *   episodes: [1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })),
 *   ending: { episode: { row: { size: 2, seed: 0 }, seed: 0 }, actions: ['down', 'right'] },
 *   refused: ({ metrics }) => metrics?.valid_move === 0,
 * })
 */
export function describeEnvironment(
  { describe, it, afterEach, expect }: TestRunner,
  name: string,
  under: EnvironmentUnderTest,
): void {
  const { episodes, ending, refused, steps = 20 } = under
  const opened: OpenEnvironment[] = []
  const open = async () => {
    const environment = await under.open()
    opened.push(environment)
    return environment
  }
  afterEach(async () => {
    for (const environment of opened.splice(0)) await environment.close()
  })

  /** Goes on at random, until the end or for so many steps: all that can be seen on the way. */
  async function wander(environment: OpenEnvironment, seed: number, most = steps) {
    const random = new Pcg64(seed)
    const seen: unknown[] = []
    for (let i = 0; i < most; i++) {
      const admissible = await environment.admissible()
      const actions = admissible ?? under.actions ?? []
      const action = actions[random.below(actions.length - 1)]
      const transition = await environment.step(action)
      seen.push({ admissible, action, transition })
      if (transition.done) break
    }
    return seen
  }
  const episode = async (environment: OpenEnvironment, spec: EpisodeSpec, seed: number) => {
    return [await environment.reset(spec), ...(await wander(environment, seed))]
  }

  describe(`${name}: the contract of environments`, () => {
    it('plays the same episode for the same row, seed and actions, whatever it played before', async () => {
      const [first, second] = [await open(), await open()]
      const seen = []
      for (const [i, spec] of episodes.entries()) seen.push(await episode(first, spec, i))
      for (const [i, spec] of [...episodes.entries()].reverse()) {
        expect(await episode(second, spec, i)).toEqual(seen[i])
        expect(await episode(first, spec, i)).toEqual(seen[i])
      }
    })

    it('plays another episode for another row or seed', async () => {
      const environment = await open()
      const seen = new Set<string>()
      for (const spec of episodes) seen.add(JSON.stringify(await episode(environment, spec, 0)))
      expect(seen.size).toBeGreaterThan(1)
    })

    it('takes the actions that it lists, and listing them changes nothing', async () => {
      const environment = await open()
      for (const [i, spec] of episodes.entries()) {
        await environment.reset(spec)
        expect(await environment.admissible()).toEqual(await environment.admissible())
        for (const step of (await wander(environment, i)) as { admissible?: unknown; transition: Transition }[]) {
          if (step.admissible) expect(refused(step.transition)).toBe(false)
          expect(Number.isFinite(step.transition.reward)).toBe(true)
        }
      }
    })

    it('answers text that is not an action, and does not throw', async () => {
      const environment = await open()
      for (const text of ['', 'xyzzy \u0000 []{}', 'constructor']) {
        await environment.reset(episodes[0])
        const transition = await environment.step(text)
        expect(refused(transition)).toBe(true)
        expect(typeof transition.observation).toBe('string')
      }
    })

    it('restores a snapshot any number of times, and continues from it in the same way; or says that it cannot', async () => {
      const environment = await open()
      await environment.reset(episodes[0])
      if (!environment.canRestore) {
        await expect(environment.snapshot()).rejects.toMatchObject({ code: 'environment/no-snapshot' })
        return
      }
      for (const [i, spec] of episodes.entries()) {
        for (const before of [0, 1, Math.floor(steps / 2)]) {
          await environment.reset(spec)
          const end = (await wander(environment, i, before)).at(-1) as { transition?: Transition } | undefined
          const state = await environment.snapshot()
          if (end?.transition?.done) {
            await environment.reset(spec)
            await environment.restore(state)
            await expect(environment.step('')).rejects.toMatchObject({ code: 'environment/order' })
            continue
          }
          const seen = await wander(environment, i + 100)
          for (let again = 0; again < 2; again++) {
            await environment.restore(state)
            expect(await wander(environment, i + 100)).toEqual(seen)
          }
        }
      }
    })

    it('refuses a step before the start and after the end, and starts over after it', async () => {
      const environment = await open()
      await expect(environment.step('')).rejects.toMatchObject({ code: 'environment/order' })
      for (let again = 0; again < 2; again++) {
        await environment.reset(ending.episode)
        const ends = []
        for (const action of ending.actions) ends.push((await environment.step(action)).done)
        expect(ends).toEqual(ending.actions.map((_, i) => i === ending.actions.length - 1))
        expect(await environment.admissible()).toEqual([])
        await expect(environment.step(ending.actions[0])).rejects.toMatchObject({ code: 'environment/order' })
      }
    })

    it('follows its signal, and can be reset after it', async () => {
      const environment = await open()
      const start = await environment.reset(episodes[0])
      const action = (await environment.admissible())?.[0] ?? under.actions?.[0] ?? ''
      const reason = new Error('enough')
      await expect(environment.step(action, AbortSignal.abort(reason))).rejects.toBe(reason)
      const control = new AbortController()
      const stepping = environment.step(action, control.signal)
      control.abort(reason)
      await expect(stepping).rejects.toBe(reason)
      for (;;) {
        const again = await environment.reset(episodes[0]).catch((error) => error)
        if (again?.code !== 'environment/busy') {
          expect(again).toEqual(start)
          break
        }
        await sleep(5)
      }
    })

    it('closes as often as it is told, in the middle of an episode too', async () => {
      const environment = await open()
      await environment.reset(episodes[0])
      await environment.close()
      await environment.close()
      for (const call of [environment.reset(episodes[0]), environment.step(''), environment.admissible()]) {
        await expect(call).rejects.toMatchObject({ code: 'environment/closed' })
      }
    })
  })
}
