import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { Pcg64 } from '../../base/random/index.js'
import { worldWorkflows } from './worlds.js'

const GridWorldWorkflow = worldWorkflows.grid_world_workflow

const WORDS = ['up', 'down', 'right', 'I go right', 'down!', 'left, no: Down', 'hm', 'right right']

/** Whole walks, with everything the workflow says of each step. */
async function walk(row: Record<string, unknown>, index: number, workflowArgs: Record<string, unknown>) {
  const random = new Pcg64(index)
  const model = modelOf(await speaker(() => WORDS[random.below(WORDS.length - 1)]))
  const task = taskOf({ raw: row, index: { taskset: 0, row: index }, workflow: 'grid_world_workflow', workflowArgs })
  const workflow = new GridWorldWorkflow(contextOf(model, { task }))
  const steps = await workflow.run()
  await workflow.close()
  return steps.map(({ promptText, responseText, reward, metrics, info, eid }) => {
    return { promptText, responseText, reward, metrics, info, step: eid.step }
  })
}

const WALKS: [Record<string, unknown>, Record<string, unknown>][] = [
  [{}, {}],
  [{ seed: 7 }, { size: 3, holes: 0.1, max_env_steps: 6 }],
  [{ seed: 11, size: 2 }, { step_cost: 0 }],
  [{ size: 5 }, { holes: 0.5, max_env_steps: 12 }],
  [{ seed: 3 }, { size: 3, holes: 0, step_cost: 0.5 }],
  [{ seed: '4' }, { size: 2, holes: 0.6 }],
  [{ seed: 5 }, { size: 3, holes: 0, max_env_steps: 40 }],
]

describe('grid_world_workflow', () => {
  const run = async (moves: string[], workflowArgs = {}) => {
    let step = 0
    const model = modelOf(await speaker(() => moves[step++ % moves.length]))
    const task = taskOf({ raw: { seed: 3 }, workflowArgs: { size: 3, holes: 0, ...workflowArgs } })
    return new GridWorldWorkflow(contextOf(model, { task })).run()
  }

  it('rewards the goal, and every step costs', async () => {
    const steps = await run(['I go right', 'down', 'right', 'down'])
    expect(steps.map(({ reward }) => reward)).toEqual([-0.02, -0.02, -0.02, 0.98])
    expect(steps.map(({ eid }) => eid.step)).toEqual([0, 1, 2, 3])
    expect(steps[0].info.env_state).toBe('P _ _\n_ _ _\n_ _ G')
    expect(steps[3].metrics['goal:sum']).toBe(1)
  })

  it('ends at the step limit; words that are no move cost a step', async () => {
    const steps = await run(['hm'], { max_env_steps: 2 })
    expect(steps.map(({ metrics }) => metrics.valid_move)).toEqual([0, 0])
  })

  it('walks as it did before it became an environment', async () => {
    const walks = []
    for (const [i, [row, args]] of WALKS.entries()) walks.push(await walk(row, i, args))
    const golden = new URL('../../../test/fixtures/grid-world-walks.json', import.meta.url)
    expect(JSON.parse(JSON.stringify(walks))).toMatchObject(JSON.parse(readFileSync(golden, 'utf8')))
  })
})
