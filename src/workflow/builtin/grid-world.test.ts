import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { GridWorld, GridWorldWorkflow, readMove } from './grid-world.js'

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

  it('draws the same map for the same seed, always with a way to the goal', () => {
    for (let seed = 0; seed < 50; seed++) {
      const map = String(new GridWorld(5, 0.4, seed))
      expect(String(new GridWorld(5, 0.4, seed))).toBe(map)
      expect(map[0]).toBe('P')
    }
    expect(String(new GridWorld(5, 0.4, 1))).not.toBe(String(new GridWorld(5, 0.4, 2)))
    expect([readMove('up, no: DOWN!'), readMove('update')]).toEqual(['down', undefined])
  })

  it('a hole ends it', () => {
    let fell = false
    for (let seed = 0; seed < 30 && !fell; seed++) {
      const world = new GridWorld(4, 0.4, seed)
      if (String(world)[2] === 'O') fell = world.move('right') === -1
    }
    expect(fell).toBe(true)
  })
})
