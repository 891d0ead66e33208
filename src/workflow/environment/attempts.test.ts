import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { parseArguments } from '../../base/arguments.js'
import { attemptWorkflows } from './attempts.js'

async function run(name: string, raw: Record<string, unknown>, replies: string[], workflowArgs = {}) {
  let said = 0
  const model = modelOf(await speaker(() => replies[said++]))
  const Workflow = attemptWorkflows[name]
  const workflow = new Workflow(
    contextOf(model, { task: taskOf({ raw, taskDesc: undefined, workflow: name, workflowArgs }) }),
  )
  const experiences = await workflow.run()
  await workflow.close()
  return experiences
}
const tagged = (answer: string) => `<think>so</think><answer>${answer}</answer>`

describe('workflows of the study', () => {
  it.each(['grpo_baseline', 'opmd_baseline'])('%s: one experience of all attempts', async (kind) => {
    const row = { question: 'Half of 7?', answer: '3.5' }
    const [one, ...more] = await run(`${kind}_dapo_workflow`, row, ['?', tagged('4'), tagged('7/2')])
    expect(more).toEqual([])
    expect(one).toMatchObject({ reward: 1, metrics: { success: 1, attempts: 3, invalid_actions: 1 } })
    const [boxed] = await run(`${kind}_qwen_math_workflow`, row, ['\\boxed{7/2}'])
    expect(boxed).toMatchObject({ reward: 1, metrics: { success: 1, attempts: 1, invalid_actions: 0 } })
    const puzzle = { nums: [44, 19, 35], target: 98 }
    const [lost] = await run(`${kind}_countdown_workflow`, puzzle, [tagged('44'), tagged('19'), tagged('35')])
    expect(lost).toMatchObject({ reward: 0, metrics: { success: 0, attempts: 3 } })
  })

  it('a single attempt', async () => {
    const [one] = await run('grpo_baseline_dapo_workflow', { prompt: '1+1', answer: 2 }, [tagged('3')], { attempts: 1 })
    expect(one).toMatchObject({ reward: 0, metrics: { attempts: 1 } })
    expect(() => parse('grpo_baseline_dapo_workflow', { attempts: 0 })).toThrow('attempts')
    expect(() => parse('grpo_baseline_dapo_workflow', { atempts: 1 })).toThrow('unknown argument')
  })

  it.each(['grpo', 'gspo', 'opmd'])('step_%s: every attempt with the reward of the whole', async (kind) => {
    const row = { question: 'Half of 7?', answer: '3.5' }
    const steps = await run(`step_${kind}_dapo_workflow`, row, [tagged('4'), tagged('7/2')])
    expect(steps.map(({ reward }) => reward)).toEqual([1, 1])
    expect(steps[1].promptText).toContain('Half of 7?')
    expect(steps.map(({ metrics }) => metrics.attempts)).toEqual([2, 2])
    // A reply of bad form ends it.
    expect(await run(`step_${kind}_dapo_workflow`, row, ['?', tagged('7/2')])).toHaveLength(1)
  })
})

function parse(name: string, given: object): unknown {
  return parseArguments('workflow', attemptWorkflows[name].args as never, given, 'workflow_args')
}
