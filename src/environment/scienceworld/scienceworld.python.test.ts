import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { Pcg64 } from '../../base/random/index.js'
import { openEnvironment } from '../index.js'
import { playReal } from './oracle.fixture.js'
import { realSimulator } from './real.fixture.js'

const python = testPython('scienceworld')
const { jar, absent, note } = realSimulator()
const TASKS = ['power-component', 'grow-plant']
const STEPS = 8

describe.skipIf(python.absent || absent)(`the package scienceworld${python.note}${note}`, { timeout: 300_000 }, () => {
  it('plays the same episodes and knows as many actions, when its Java orders things as ours does', async () => {
    const world = await openEnvironment('scienceworld', { jar_path: jar, processes: 1, timeout: 200, admissible: true })
    const random = new Pcg64(5)
    const ours = []
    for (const task of TASKS) {
      const start = await world.reset({ row: { task_name: task, var_num: 1 }, seed: 0 })
      const actions: string[] = []
      const steps = []
      while (steps.length < STEPS && !steps.at(-1)?.done) {
        const possible = (await world.admissible()) ?? []
        actions.push(possible[random.below(possible.length - 1)])
        const { observation, reward, done } = await world.step(actions[actions.length - 1])
        steps.push({ observation, reward: Math.round(100 * reward), done })
      }
      ours.push({ task, actions, start, steps, valid: (await world.admissible())?.length })
    }
    await world.close()
    const plays = ours.map(({ task, actions }) => ({ task, variation: 1, actions }))
    for (const [i, { description, start, steps, valid }] of playReal(python.path, plays, 30).entries()) {
      const observation = `Task Description: ${description}\n${start}`
      expect(ours[i]).toMatchObject({ start: { observation, goal: description }, steps })
      if (!steps.at(-1)?.done) expect(ours[i].valid).toBe(valid)
    }
  })
})
