import { readFileSync, rmSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { Pcg64 } from '../../base/random/index.js'
import { fakeJar, fakeJavaHome } from '../../environment/scienceworld/fake-java.fixture.js'
import { writeCatalogue } from '../../environment/webshop/catalogue.fixture.js'
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

describe('frozen_lake_workflow', () => {
  const FrozenLakeWorkflow = worldWorkflows.frozen_lake_workflow
  const DESC = ['SFF', 'HFF', 'FFG']

  const run = async (replies: string[], workflowArgs = {}, limits = {}, raw = {}) => {
    let step = 0
    const prompts: string[] = []
    const says = (prompt: string) => {
      prompts.push(prompt)
      return replies[step++ % replies.length]
    }
    const model = modelOf(await speaker(says), { limits: { maxModelLen: 20_000, truncatePrompts: true, ...limits } })
    const task = taskOf({ raw, workflow: 'frozen_lake_workflow', workflowArgs })
    const workflow = new FrozenLakeWorkflow(contextOf(model, { task }))
    const [experience, ...more] = await workflow.run()
    await workflow.close()
    expect(more).toEqual([])
    return { experience, prompts }
  }
  const WAY = ['I go ```Right```', '```2```', '```down```', '```Right```']

  it('is one conversation with the sum of the rewards', async () => {
    const { experience, prompts } = await run(WAY, { desc: DESC })
    expect(experience.reward).toBe(1)
    expect(experience.info).toMatchObject({ env_steps: 4, env_done: 1, test_score: 1, success: 1 })
    expect(experience.metrics).toMatchObject({ env_steps: 4, env_done: 1, test_score: 1 })
    expect(prompts).toHaveLength(4)
    expect(prompts[3]).toContain('Current Observation (3): ')
    expect(prompts[3]).toContain('Steps remaining: 7.')
  })

  it('falls without success, and goes on after replies without an action up to agent_max_steps', async () => {
    const fell = await run(['```down```'], { desc: DESC })
    expect(fell.experience).toMatchObject({ reward: 0, info: { env_steps: 1, env_done: 1, test_score: 0, success: 0 } })
    const lost = await run(['hm'], { desc: DESC, agent_max_steps: 3 })
    expect(lost.experience.info).toMatchObject({ env_steps: 3, env_done: 0, invalid_actions: 3 })
    expect(lost.prompts[1]).toContain('did not move you')
    expect((await run(['hm'], { desc: DESC })).experience.info).toMatchObject({ env_steps: 10 })
  })

  it("draws the map from the row's size, p and seed", async () => {
    const { prompts } = await run(['hm'], { agent_max_steps: 1 }, {}, { size: 3, p: 0.85, seed: 262 })
    // What NumPy draws in the order of the original: FGH/FHF/SFF.
    expect(prompts[0]).toContain(' _ \t G \t O \t\n _ \t O \t _ \t\n P \t _ \t _ \t')
  })

  it('max_response_tokens holds for the whole conversation', async () => {
    // One token per byte: the first reply and the second prompt leave less than the third prompt needs.
    const { experience, prompts } = await run(['x'.repeat(50)], { desc: DESC }, { maxResponseTokens: 400 })
    expect(prompts.length).toBeGreaterThan(1)
    expect(experience.info.env_steps).toBe(prompts.length)
    expect(prompts.length).toBeLessThan(4)
    expect(experience.tokens.length - experience.promptLength).toBeLessThanOrEqual(400)
  })
})

describe('sudoku_workflow', () => {
  const run = async (replies: string[], workflowArgs = {}) => {
    let step = 0
    const model = modelOf(await speaker(() => replies[step++]))
    const task = taskOf({ raw: { puzzle: '1230 3412 2143 4320' }, workflow: 'sudoku_workflow', workflowArgs })
    return new worldWorkflows.sudoku_workflow(contextOf(model, { task })).run()
  }

  it('gives an experience per step, with its own reward', async () => {
    const steps = await run(['0 3 4', '3 3 1'])
    expect(steps.map(({ reward, eid, metrics }) => [reward, eid.step, metrics.success])).toEqual([
      [0, 0, 1],
      [1, 1, 1],
    ])
    expect((await run(['0 3 1'])).map(({ reward }) => reward)).toEqual([-1])
    expect((await run(['0 3 4\n3 3 1'], { max_moves_per_step: 1 })).map(({ reward }) => reward)).toEqual([-1])
  })
})

describe('sciworld_workflow', () => {
  const { sciworld_workflow: SciWorldWorkflow } = worldWorkflows

  it('takes the rows of the original, and is worth the best score', async () => {
    vi.stubEnv('JAVA_HOME', await fakeJavaHome())
    const raw = { task_desc: JSON.stringify({ task_name: 'boil', var_num: 2, jar_path: await fakeJar() }), targe: '' }
    const task = taskOf({ raw, taskDesc: raw.task_desc, workflowArgs: { processes: 1, max_env_steps: 3 } })
    const model = modelOf(await speaker(() => '<think>a</think><action>wait</action>'))
    const workflow = new SciWorldWorkflow(contextOf(model, { task }))
    const [experience] = await workflow.run()
    await workflow.close()
    expect(experience).toMatchObject({ reward: 0.25, info: { env_rounds: 3, env_done: 0 } })
    vi.unstubAllEnvs()
  })

  it("has the original's prompt and limits", () => {
    expect(SciWorldWorkflow.args?.parse({})).toMatchObject({
      prompt: 'trinity',
      max_env_steps: 30,
      env_step_limit: 100,
      reward_mode: 'max_score',
      simplifications: 'easy',
    })
  })
})

describe('webshop_workflow', () => {
  const { webshop_workflow: WebShopWorkflow } = worldWorkflows
  const data = writeCatalogue()
  afterAll(() => rmSync(data, { recursive: true }))

  const run = async (replies: string[], workflowArgs = {}) => {
    let step = 0
    const model = modelOf(await speaker(() => replies[step++ % replies.length]), { limits: { maxModelLen: 50_000 } })
    const task = taskOf({
      raw: { task_id: '3' },
      taskDesc: '3',
      workflowArgs: { data, human_goals: false, ...workflowArgs },
    })
    const workflow = new WebShopWorkflow(contextOf(model, { task }))
    const [experience, ...more] = await workflow.run()
    await workflow.close()
    expect(more).toEqual([])
    return experience
  }

  it('is worth the purchase', async () => {
    const replies = ['search[kettle]', 'click[B0114TESTZ]', 'click[nothing]', 'click[Buy Now]']
    const { reward, info } = await run(replies.map((action) => `<action>${action}</action>`))
    expect(info).toMatchObject({ env_rounds: 4, env_done: 1, invalid_actions: 1 })
    expect(reward).toBeGreaterThanOrEqual(0)
    expect(reward).toBeLessThanOrEqual(1)
  })

  it('is worth -0.1 without one, whatever the last step was', async () => {
    for (const reply of ['<action>search[lamp]</action>', 'hm']) {
      expect(await run([reply], { max_env_steps: 2 })).toMatchObject({
        reward: -0.1,
        info: { env_rounds: 2, env_done: 0 },
      })
    }
  })

  it("has the original's limit and prompt", () => {
    expect(WebShopWorkflow.args?.parse({})).toMatchObject({ prompt: 'trinity', max_env_steps: 15, human_goals: true })
  })
})
