import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import { fakeJar, fakeJavaHome } from '../../environment/scienceworld/fake-java.fixture.js'
import { writeCatalogue } from '../../environment/webshop/catalogue.fixture.js'
import { act, isReflection } from './kit.fixture.js'
import { studyWorkflows } from './names.js'
import { report } from './report.fixture.js'

const data = writeCatalogue()
let jar = ''
beforeAll(async () => {
  vi.stubEnv('JAVA_HOME', await fakeJavaHome())
  jar = await fakeJar()
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(data, { recursive: true })
})

const answer = '<think>so</think><answer>\\boxed{4}</answer>'
const question = { raw: { question: 'Half of 7?', answer: '3.5' }, args: { attempts: 2 }, replies: [answer] }

/** A row of each world, and replies that lead nowhere. */
const worlds = {
  alfworld: () => ({ raw: rowOf(HOUSES[5]), args: { max_env_steps: 2 }, replies: ['look', 'inventory'].map(act) }),
  webshop: () => ({
    raw: { task_id: '3' },
    args: { data, human_goals: false, max_env_steps: 2 },
    replies: ['search[lamp]', 'click[Next >]'].map(act),
  }),
  scienceworld: () => ({
    raw: { task_name: 'boil', var_num: 2, jar_path: jar },
    args: { processes: 1, max_env_steps: 2 },
    replies: ['look around', 'wait1'].map(act),
  }),
  dapo: () => question,
  qwen_math: () => question,
  countdown: () => ({ ...question, raw: { nums: [1, 2], target: 9 } }),
}

const names = Object.keys(studyWorkflows).filter((name) => !name.includes('environment'))
const worldOf = (name: string) =>
  (Object.keys(worlds) as (keyof typeof worlds)[]).find((world) =>
    new RegExp(`_${world}(_w_o_credit)?_workflow$`).test(name),
  )!

describe('every workflow of the study', () => {
  it.each(names)('%s plays, reflects and evaluates', async (name) => {
    const { raw, args, replies } = worlds[worldOf(name)]()
    for (const isEval of [false, true]) {
      let said = 0
      const says = (prompt: string) =>
        isReflection(prompt) ? report({ retry_from_step: 1 }) : replies[said++ % replies.length]
      const model = modelOf(await speaker(says, { maxModelLen: 60_000 }), { limits: { maxModelLen: 60_000 } })
      const task = taskOf({ raw, taskDesc: undefined, workflow: name, workflowArgs: args, isEval, repeatTimes: 2 })
      const repeat = studyWorkflows[name].repeats ? 2 : 1
      const workflow = new studyWorkflows[name](contextOf(model, { task, run: repeat === 1 ? 1 : 0, repeat }))
      const experiences = await workflow.run()
      await workflow.close()
      const [first] = experiences
      expect(first.metrics).toMatchObject({ success: 0, reward: expect.any(Number) })
      const reflects = /R3L|reflect_grpo/.test(name) && !isEval
      expect(experiences.some(({ metrics }) => metrics.pivot_point === 1)).toBe(reflects)
      for (const { reward, failure } of experiences) expect([typeof reward, failure]).toEqual(['number', undefined])
    }
  })
})
