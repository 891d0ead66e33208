import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import type { Task } from '../../task/index.js'
import type { RolloutModelParts } from '../rollout-model.js'
import type { WorkflowClass } from '../workflow.js'
import { ReactGsm8kWorkflow, ReactPythonMathWorkflow } from './math.js'

const call = (name: string, args: unknown) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`

async function play(
  entry: WorkflowClass,
  says: readonly string[],
  task: Partial<Task> = {},
  parts: Partial<RolloutModelParts> = {},
) {
  let said = 0
  const model = modelOf(await speaker(() => says[said++] ?? 'out of words'), parts)
  const given = taskOf({ taskDesc: '2 + 2?', truth: 'two and two #### 4', ...task })
  return new entry(contextOf(model, { task: given })).run()
}

describe('agentscope_react_workflow', () => {
  const finish = (result: string) => call('generate_response', { result })

  it.each([
    ['the right result', [finish('\\boxed{4}')], 1],
    ['a wrong one', [finish('\\boxed{5}')], 0],
    ['one without a box', [finish('4')], 0],
    ['an answer that hands nothing over', ['\\boxed{4}'], 0],
  ])('%s', async (_, says, reward) => {
    const experiences = await play(ReactGsm8kWorkflow, says)
    expect(experiences).toMatchObject([{ reward, metrics: { accuracy: reward } }])
  })

  it('counts its memory and its steps; takes the type gsm8k alone', async () => {
    const [{ metrics, reward }] = await play(ReactGsm8kWorkflow, [call('nothing', {}), finish('\\boxed{4}')])
    // system, question, two answers and what came of each
    expect({ reward, ...metrics }).toMatchObject({
      reward: 1,
      react_memory_length: 6,
      react_steps: 2,
      react_failed_calls: 1,
    })
    await expect(play(ReactGsm8kWorkflow, [], { workflowArgs: { type: 'dapo' } })).rejects.toThrow('expected "gsm8k"')
  })

  it('a conversation that outgrows the model ends without an answer; one that never fitted is an error', async () => {
    const limits = { maxModelLen: 600, truncatePrompts: true }
    const experiences = await play(
      ReactGsm8kWorkflow,
      Array(9).fill(call('nothing', { at: 'x'.repeat(80) })),
      {},
      { limits },
    )
    expect(experiences).toMatchObject([{ reward: 0 }])
    const tight = { limits: { maxModelLen: 64, truncatePrompts: true } }
    await expect(play(ReactGsm8kWorkflow, [], {}, tight)).rejects.toThrow('the limit is 63')
  })
})

describe('agentscope_react_math_workflow', () => {
  it('runs the Python that the model writes; the answer is what it says at the end', async () => {
    const says = [call('execute_python_code', { code: 'print(2 + 2)' }), 'It is \\boxed{4}']
    const [{ reward, messages, metrics }] = await play(ReactPythonMathWorkflow, says)
    expect(reward).toBe(1)
    expect(JSON.stringify(messages)).toContain('<stdout>4')
    expect(metrics).toMatchObject({ react_calls: 1, react_failed_calls: 0 })
  })

  it('a Python that is missing is an error of the run, not of the model', async () => {
    const given = play(ReactPythonMathWorkflow, [], { workflowArgs: { python: '/no/python' } })
    await expect(given).rejects.toThrow('there is no Python')
  })
})
