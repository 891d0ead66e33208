import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { openEnvironment } from '../index.js'
import { playReal } from './oracle.fixture.js'
import { realSimulator } from './real.fixture.js'

const python = testPython('scienceworld')
const { jar, absent, note } = realSimulator()
const PLAYS = [
  { task: 'power-component', variation: 1, random: { steps: 6, seed: 1 } },
  { task: 'grow-plant', variation: 2, random: { steps: 6, seed: 2 } },
]

describe.skipIf(python.absent || absent)(`the package scienceworld${python.note}${note}`, { timeout: 300_000 }, () => {
  it('plays the same episodes and lists the same actions, when its Java orders things as ours does', async () => {
    const real = playReal(python.path, PLAYS, 30)
    const world = await openEnvironment('scienceworld', { jar_path: jar, processes: 1, timeout: 200, admissible: true })
    for (const [i, { task, variation }] of PLAYS.entries()) {
      const { description, start, valid, steps } = real[i]
      expect(await world.reset({ row: { task_name: task, var_num: variation }, seed: 0 })).toEqual({
        observation: `Task Description: ${description}\n${start}`,
        goal: description,
      })
      for (const [at, { action, observation, reward, done }] of steps.entries()) {
        expect(await world.admissible()).toEqual(valid[at])
        const ours = await world.step(action)
        expect({ ...ours, reward: Math.round(100 * ours.reward) }).toMatchObject({ observation, reward, done })
      }
    }
    await world.close()
  })
})
