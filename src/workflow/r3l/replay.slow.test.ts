import { describe, it } from 'vitest'
import { realSimulator } from '../../environment/scienceworld/real.fixture.js'
import { checkReplay, tags } from './replay.fixture.js'

const { jar, absent, note } = realSimulator()
const TASKS = ['boil', 'find-living-thing', 'use-thermometer', 'power-component', 'grow-plant']
const ACTIONS = [
  'look around',
  'teleport to kitchen',
  'teleport to workshop',
  'teleport to greenhouse',
  'open cupboard',
  'pick up thermometer',
  'activate stove',
  'wait1',
  'focus on thermometer',
  'hm',
]

describe(`a retry that follows the same replies in ScienceWorld${note}`, () => {
  it.skipIf(absent)('reaches the same state', { timeout: 600_000 }, async () => {
    const args = { jar_path: jar, processes: 1 }
    const raw = (seed: number) => ({ task_name: TASKS[seed % TASKS.length], var_num: seed % 3 })
    await checkReplay('scienceworld', { args, raw, replies: ACTIONS.map(tags) }, 15)
  })
})
