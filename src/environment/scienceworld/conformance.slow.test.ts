import * as vitest from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'
import { realSimulator } from './real.fixture.js'

const { jar, absent, note } = realSimulator()
const rows = [
  { task_name: 'boil', var_num: 3 },
  { task_name: 'power-component', var_num: 1 },
  { task_name: 'grow-plant', var_num: 0 },
]
const under = (args: object) => ({
  open: () => openEnvironment('scienceworld', { jar_path: jar, processes: 2, timeout: 300, ...args }),
  episodes: rows.map((row) => ({ row, seed: 0 })),
  actions: [
    'look around',
    'teleport to greenhouse',
    'wait1',
    'inventory',
    'teleport to kitchen',
    'activate sink',
    'eat all',
  ],
  // What is not the subject of the task ends it.
  ending: {
    episode: { row: rows[0], seed: 0 },
    actions: ['teleport to kitchen', 'look around', 'focus on stove'],
  },
  refused: ({ metrics }: { metrics?: Readonly<Record<string, number>> }) => metrics?.valid_action === 0,
})

vitest.vi.setConfig({ testTimeout: 600_000 })
vitest.it.skipIf(absent)(`the contract of environments${note}`, () => {})
if (!absent) {
  describeEnvironment(vitest, 'scienceworld', under({}))
  // Not where paint stands in a closed cupboard: see 'lists what is in closed containers' in scienceworld.slow.test.ts.
  const open = under({ admissible: true })
  const episodes = open.episodes.filter(({ row }) => row.task_name !== 'power-component')
  describeEnvironment(vitest, 'scienceworld with a list of actions', { ...open, episodes, steps: 6 })
}
