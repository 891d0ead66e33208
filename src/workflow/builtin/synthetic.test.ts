import { expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { SyntheticWorkflow } from './synthetic.js'

async function run(workflowArgs: Record<string, unknown>, limits = {}) {
  const model = modelOf(await speaker(undefined), { limits: { maxModelLen: 100, ...limits } })
  const context = contextOf(model, { task: taskOf({ workflowArgs }), run: 2, repeat: 2 })
  return { model, experiences: await new SyntheticWorkflow(context).run() }
}

it('makes experiences of the given lengths without asking the model', async () => {
  const { model, experiences } = await run({ prompt_length: 7, response_length: 5 })
  expect(model.stats.calls).toBe(0)
  expect(experiences.map(({ eid }) => eid.run)).toEqual([2, 3])
  for (const { tokens, promptLength, logprobs, actionMask, reward } of experiences) {
    expect([tokens.length, promptLength, logprobs?.length]).toEqual([12, 7, 5])
    expect(actionMask.every(Boolean)).toBe(true)
    expect(Math.max(...tokens)).toBeLessThan(model.tokenizer.vocabSize)
    expect(reward).toBeGreaterThanOrEqual(0)
  }
  expect(experiences[0].reward).not.toBe(experiences[1].reward)
})

it('fills the model where no length is given', async () => {
  const shape = async (limits: object) => {
    const [{ tokens, promptLength }] = (await run({}, limits)).experiences
    return [promptLength, tokens.length - promptLength]
  }
  expect(await shape({})).toEqual([50, 50])
  expect(await shape({ maxResponseTokens: 30 })).toEqual([70, 30])
  expect(await shape({ maxPromptTokens: 20, maxResponseTokens: 30 })).toEqual([20, 30])
})

it.each([{ prompt_length: 60, response_length: 60 }, { response_length: 100 }, { prompt_length: 0 }])(
  'refuses %o',
  async (args) => {
    await expect(run(args)).rejects.toMatchObject({ code: expect.stringMatching(/^(workflow\/args|args\/invalid)$/) })
  },
)
