import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { openEnvironment } from '../index.js'
import { goldLogs, recordedEpisodes } from './gold.fixture.js'
import { playReal } from './oracle.fixture.js'
import { realSimulator } from './real.fixture.js'

const { jar, absent, note } = realSimulator()
const python = testPython('scienceworld')
const HOURS = 4 * 3_600_000

interface Replayed {
  readonly start: string
  readonly steps: readonly { observation: string; reward: number; done: boolean }[]
}

/** All episodes, eight at a time in one process. */
async function replayAll(): Promise<Replayed[]> {
  const all = recordedEpisodes()
  const replayed: Replayed[] = []
  let next = 0
  const play = async () => {
    const args = { jar_path: jar, processes: 1, timeout: 600, env_step_limit: 1000 }
    const world = await openEnvironment('scienceworld', args)
    for (let i = next++; i < all.length; i = next++) {
      const { task, variation, steps } = all[i]
      const { observation: start } = await world.reset({ row: { task_name: task, var_num: variation }, seed: 0 })
      const seen: Replayed['steps'][number][] = []
      for (const { action } of steps.slice(1)) {
        const { observation, reward, done } = await world.step(action)
        seen.push({ observation, reward: Math.round(100 * reward), done })
        if (done) break
      }
      replayed[i] = { start, steps: seen }
    }
    await world.close()
  }
  await Promise.all(Array.from({ length: 8 }, play))
  return replayed
}

let replaying: Promise<Replayed[]> | undefined
const replayedOnce = () => {
  replaying ??= replayAll()
  return replaying
}

/** What an observation names, in any order: the simulator keeps things in sets. */
const parts = (text: string) =>
  text
    .split(/[\n,.:()]+/)
    .map((part) => part.trim())
    .filter(Boolean)
    .sort()
    .join('|')

/** Where the order of a set decides what happens: which wire is reached first, where a bee flies, who is heated first. */
const BY_ORDER = [
  'boil',
  'freeze',
  'grow-fruit',
  'measure-melting-point-unknown-substance',
  'melt',
  'mendelian-genetics-known-plant',
  'mendelian-genetics-unknown-plant',
  'power-component',
  'power-component-renewable-vs-nonrenewable-energy',
  'use-thermometer',
]

const logs = describe.skipIf(absent || goldLogs.absent)
logs(`the gold episodes${note}${goldLogs.note}`, { timeout: HOURS }, () => {
  it('scores and observations are the recorded ones, but for what the order of sets decides', async () => {
    const replayed = await replayedOnce()
    const count = { steps: 0, scores: 0, observations: 0 }
    const differing = new Set<string>()
    for (const [i, { task, steps }] of recordedEpisodes().entries()) {
      let score = Math.round(100 * steps[0].score)
      for (const [at, { observation, reward }] of replayed[i].steps.entries()) {
        const recorded = steps[at + 1]
        score += reward
        const sameScore = score === Math.round(100 * recorded.score)
        const sameText = parts(observation) === parts(recorded.observation)
        count.steps++
        if (sameScore) count.scores++
        if (sameText) count.observations++
        if (!sameScore || !sameText) differing.add(task)
      }
    }
    expect([...differing].filter((task) => !BY_ORDER.includes(task))).toEqual([])
    // The order is always the same here, and so are these numbers.
    expect(count).toEqual({ steps: 12_862, scores: 12_523, observations: 12_556 })
  })

  it.skipIf(python.absent)(`are those of the real package, byte for byte${python.note}`, async () => {
    const plays = recordedEpisodes().map(({ task, variation, steps }) => {
      return { task, variation, actions: steps.slice(1).map(({ action }) => action) }
    })
    const real = playReal(python.path, plays, 1000)
    const replayed = await replayedOnce()
    expect(real).toHaveLength(271)
    for (const [i, { description, start, steps }] of real.entries()) {
      expect(replayed[i]).toEqual({
        start: `Task Description: ${description}\n${start}`,
        steps,
      })
    }
  })
})
