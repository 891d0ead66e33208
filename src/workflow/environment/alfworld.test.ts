import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import type { Task } from '../../task/index.js'
import { alfworldWorkflows } from './alfworld.js'

const WAY = ['go to bed 1', 'take book 2 from bed 1', 'go to desk 1', 'use desklamp 1']
const tagged = (action: string) => `<think>so</think><action>${action}</action>`
const full = (action: string) => `<experience>e</experience><think>t</think><action>${action}</action>`

/** Plays the light house with these replies, and keeps what the model was shown. */
async function play(name: string, replies: readonly string[], args = {}, given: Partial<Task> = {}) {
  const said = [...replies]
  const prompts: string[] = []
  const sampler = await speaker((prompt) => {
    prompts.push(prompt)
    return said.shift() ?? 'hm'
  })
  const model = modelOf(sampler, { limits: { maxModelLen: 60_000, truncatePrompts: true } })
  const task = taskOf({ raw: rowOf(HOUSES[5]), workflow: name, workflowArgs: args, ...given })
  const workflow = new alfworldWorkflows[name](contextOf(model, { task }))
  try {
    return { experiences: await workflow.run(), prompts, model }
  } finally {
    await workflow.close()
  }
}

describe('alfworld_workflow', () => {
  it('is one conversation, worth what the game gives', async () => {
    const { experiences, prompts } = await play('alfworld_workflow', WAY.map(tagged))
    expect(experiences).toHaveLength(1)
    expect(experiences[0]).toMatchObject({ reward: 1, info: { env_rounds: 4, env_done: 1 }, metrics: { success: 1 } })
    expect(prompts[3]).toContain('Observation: You pick up the book 2')
  })

  it('costs a little where the goal is not reached', async () => {
    const { experiences } = await play('alfworld_workflow', ['hm'], { max_env_steps: 3 })
    expect(experiences[0]).toMatchObject({ reward: -0.1, info: { env_rounds: 3, env_done: 0 } })
    expect(alfworldWorkflows.alfworld_workflow.args?.parse({})).toMatchObject({ max_env_steps: 30, prompt: 'trinity' })
  })
})

describe('step_wise_alfworld_workflow', () => {
  it('gives every step the reward of the whole, its own, and a mark of where it began', async () => {
    const { experiences, prompts } = await play('step_wise_alfworld_workflow', WAY.map(tagged))
    expect(experiences.map(({ reward }) => reward)).toEqual([1, 1, 1, 1])
    expect(experiences.map(({ info }) => info.step_reward)).toEqual([0, 0, 0, 1])
    const seen = 'Observation: You pick up the book 2 from the bed 1.'
    expect(experiences[2].info.env_state_hash).toBe(createHash('sha256').update(seen).digest('hex'))
    expect(prompts[3]).toContain('Observation: -= Welcome')
  })
})

describe('RAFT_alfworld_workflow', () => {
  it('keeps what succeeds in the right form', async () => {
    const { experiences, model } = await play('RAFT_alfworld_workflow', WAY.map(full))
    expect(experiences[0]).toMatchObject({
      reward: 1,
      info: { is_kept: true },
      metrics: { success: 1, reward: 1, steps: 4 },
    })
    expect(experiences[0].tokens).toEqual(model.toExperience().tokens)
  })

  it.each([
    ['a failure', [full('look')], 0],
    ['a success with a reply of bad form', ['hm', ...WAY.map(full)], 1],
  ])('leaves nothing to learn of %s', async (_, replies, success) => {
    const { experiences } = await play('RAFT_alfworld_workflow', replies, { max_env_steps: 6 })
    expect(experiences).toHaveLength(1)
    expect([...experiences[0].actionMask]).toEqual([0])
    expect(experiences[0].metrics.success).toBe(success)
  })
})

describe('RAFT_reflect_alfworld_workflow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-raft-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const files = (dir: string) =>
    (existsSync(dir) ? readdirSync(dir, { recursive: true, encoding: 'utf8' }) : []).filter((name) =>
      name.endsWith('.json'),
    )
  const bad = [full('look'), full('inventory'), full('help')]

  it('plays again with the failure in view, and learns the second attempt as if it were the first', async () => {
    const data_dir = join(folder, 'a')
    const given = { batchId: 3, taskId: 7 }
    const args = { data_dir, max_env_steps: 4 }
    const { experiences, prompts } = await play(
      'RAFT_reflect_alfworld_workflow',
      [...bad, full('look'), ...WAY.map(full)],
      args,
      given,
    )
    expect(prompts[4]).toContain('That attempt failed')
    expect(prompts[4]).toContain(full('help'))
    const [experience] = experiences
    expect(experience).toMatchObject({
      reward: 1,
      info: { is_kept: true },
      metrics: { success: 0, second_success: 1, second_steps: 4, improvement: 1 },
    })
    expect(experience.promptText).not.toContain('That attempt failed')
    expect(experience.responseText).toContain('use desklamp 1')
    expect(experience.responseText).not.toContain(full('help'))
    expect(experience.actionMask).toContain(1)
    expect(experience.actionMask).toContain(0)
    expect(files(data_dir)).toEqual(['sft_data/3-7-0.json'])
    const saved = JSON.parse(readFileSync(join(data_dir, 'sft_data/3-7-0.json'), 'utf8'))
    expect(saved).toMatchObject({
      kept_for_sft: true,
      first_exploration: { success: false, steps: 4 },
      second_exploration: { success: true },
    })
    expect(saved.training_data.at(-1)).toEqual({ role: 'assistant', content: full('use desklamp 1') })
  })

  it('keeps nothing of a second failure', async () => {
    const data_dir = join(folder, 'b')
    const { experiences } = await play('RAFT_reflect_alfworld_workflow', [...bad, ...bad], {
      data_dir,
      max_env_steps: 3,
    })
    expect([...experiences[0].actionMask]).toEqual([0])
    expect(experiences[0]).toMatchObject({ info: { is_kept: false }, metrics: { improvement: 0, second_reward: 0 } })
    expect(files(data_dir)).toEqual(['non_sft_data/0-0-0.json'])
  })

  it('needs no second attempt after a success, nor in an evaluation; writes nothing where told so', async () => {
    const { experiences, prompts } = await play('RAFT_reflect_alfworld_workflow', WAY.map(full), { data_dir: null })
    expect(experiences[0].reward).toBe(1)
    expect(prompts).toHaveLength(4)
    const evaluated = await play(
      'RAFT_reflect_alfworld_workflow',
      bad,
      { data_dir: null, max_env_steps: 3 },
      { isEval: true },
    )
    expect(evaluated.prompts).toHaveLength(3)
    expect(evaluated.experiences[0].metrics.success).toBe(0)
  })
})
