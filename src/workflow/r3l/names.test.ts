import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { parseArguments } from '../../base/arguments.js'
import { studyWorkflows } from './names.js'

/** Written out as the original registers them. */
const NAMES = `
R3L_alfworld_workflow R3L_webshop_workflow R3L_scienceworld_workflow R3L_dapo_workflow R3L_qwen_math_workflow
R3L_countdown_workflow R3L_alfworld_w_o_credit_workflow R3L_webshop_w_o_credit_workflow
R3L_scienceworld_w_o_credit_workflow R3L_dapo_w_o_credit_workflow R3L_qwen_math_w_o_credit_workflow
grpo_baseline_alfworld_workflow grpo_baseline_webshop_workflow grpo_baseline_scienceworld_workflow
grpo_baseline_dapo_workflow grpo_baseline_qwen_math_workflow grpo_baseline_countdown_workflow
opmd_baseline_alfworld_workflow opmd_baseline_webshop_workflow opmd_baseline_scienceworld_workflow
opmd_baseline_dapo_workflow opmd_baseline_qwen_math_workflow opmd_baseline_countdown_workflow
raft_baseline_alfworld_workflow raft_baseline_webshop_workflow raft_baseline_scienceworld_workflow
raft_baseline_dapo_workflow raft_baseline_qwen_math_workflow raft_baseline_countdown_workflow
dapo_alfworld_workflow dapo_webshop_workflow dapo_scienceworld_workflow dapo_dapo_workflow dapo_qwen_math_workflow
dapo_countdown_workflow reflect_grpo_alfworld_workflow reflect_grpo_webshop_workflow
reflect_grpo_scienceworld_workflow reflect_grpo_dapo_workflow reflect_grpo_qwen_math_workflow
critique_grpo_alfworld_workflow critique_grpo_webshop_workflow critique_grpo_scienceworld_workflow
critique_grpo_dapo_workflow critique_grpo_qwen_math_workflow
step_grpo_alfworld_workflow step_grpo_webshop_workflow step_grpo_scienceworld_workflow step_grpo_dapo_workflow
step_opmd_alfworld_workflow step_opmd_webshop_workflow step_opmd_scienceworld_workflow step_opmd_dapo_workflow
step_gspo_alfworld_workflow step_gspo_webshop_workflow step_gspo_scienceworld_workflow step_gspo_dapo_workflow
step_dapo_alfworld_workflow step_dapo_webshop_workflow step_dapo_scienceworld_workflow step_dapo_dapo_workflow
step_raft_alfworld_workflow step_raft_webshop_workflow step_raft_scienceworld_workflow step_raft_dapo_workflow
step_reflect_grpo_alfworld_workflow step_reflect_grpo_webshop_workflow step_reflect_grpo_scienceworld_workflow
step_reflect_grpo_dapo_workflow step_critique_grpo_alfworld_workflow step_critique_grpo_webshop_workflow
step_critique_grpo_scienceworld_workflow step_critique_grpo_dapo_workflow
step_R3L_alfworld_workflow step_R3L_webshop_workflow step_R3L_scienceworld_workflow step_R3L_dapo_workflow
`
  .trim()
  .split(/\s+/)

const OURS = ['R3L_environment_workflow', 'step_wise_R3L_environment_workflow']
const parse = (name: string, given: object) =>
  parseArguments(name, studyWorkflows[name].args as never, given, 'workflow_args') as Record<string, unknown>

describe('the names of the study', () => {
  it('are those of the original, and the method for any world', () => {
    expect(NAMES).toHaveLength(77)
    expect(Object.keys(studyWorkflows).sort()).toEqual([...NAMES, ...OURS].sort())
  })

  it.each(NAMES)('%s needs no arguments, and has the limit of its world', (name) => {
    const args = parse(name, {})
    const limits = { alfworld: 25, webshop: 15, scienceworld: 30 }
    const world = Object.keys(limits).find((one) => name.includes(one)) as keyof typeof limits | undefined
    expect(world ? args.max_env_steps : args.attempts).toBe(world ? limits[world] : 3)
  })

  it('settle what they are about', () => {
    expect(() => parse('R3L_alfworld_w_o_credit_workflow', { credit: 'prefix' })).toThrow('unknown argument')
    expect(() => parse('reflect_grpo_dapo_workflow', { imitate: 'better' })).toThrow('unknown argument')
    expect(() => parse('grpo_baseline_alfworld_workflow', { credit: 'none' })).toThrow('unknown argument')
    expect(() => parse('grpo_baseline_dapo_workflow', { attempts: 0 })).toThrow('attempts')
  })

  it('have the rule of the paper where there are two', () => {
    const paper = { reflect_on: 'failures', context: 'distilled', credit: 'prefix', imitate: 'better' }
    expect(parse('R3L_alfworld_workflow', {})).toMatchObject({ ...paper, retry_from: 'pivot' })
    expect(parse('step_R3L_webshop_workflow', {})).toMatchObject({ ...paper, retry_from: 'pivot' })
    expect(parse('R3L_dapo_workflow', {})).toMatchObject({ ...paper, retry_from: 'start' })
  })

  it('have the lengths of the original for long replies', () => {
    expect(parse('dapo_webshop_workflow', {})).toMatchObject({ max_response_length: 512, cache_length: 400 })
    expect(parse('dapo_countdown_workflow', {})).toMatchObject({ max_response_length: 4096, cache_length: 3000 })
    const given = { enable_overlong_penalty: true, penalty_factor: 1, max_response_length: 512, cache_length: 400 }
    expect(parse('dapo_alfworld_workflow', given)).toMatchObject(given)
  })
})

async function run(name: string, raw: Record<string, unknown>, replies: string[], workflowArgs = {}) {
  let said = 0
  const model = modelOf(await speaker(() => replies[said++]))
  const task = taskOf({ raw, taskDesc: undefined, workflow: name, workflowArgs })
  const workflow = new studyWorkflows[name](contextOf(model, { task }))
  const experiences = await workflow.run()
  await workflow.close()
  return experiences
}
const tagged = (answer: string) => `<think>so</think><answer>${answer}</answer>`

describe('baselines', () => {
  it.each(['grpo_baseline', 'opmd_baseline'])('%s: one experience of all attempts', async (kind) => {
    const row = { question: 'Half of 7?', answer: '3.5' }
    const [one, ...more] = await run(`${kind}_dapo_workflow`, row, ['?', tagged('4'), tagged('7/2')])
    expect(more).toEqual([])
    expect(one).toMatchObject({ reward: 1, metrics: { success: 1, accuracy: 0, attempts: 3, invalid_actions: 1 } })
    const [boxed] = await run(`${kind}_qwen_math_workflow`, row, ['\\boxed{7/2}'])
    expect(boxed).toMatchObject({ reward: 1, metrics: { success: 1, accuracy: 1, attempts: 1, invalid_actions: 0 } })
    const puzzle = { nums: [44, 19, 35], target: 98 }
    const [lost] = await run(`${kind}_countdown_workflow`, puzzle, [tagged('44'), tagged('19'), tagged('35')])
    expect(lost).toMatchObject({ reward: 0, metrics: { success: 0, attempts: 3, reward: 0 } })
  })

  it('a single attempt', async () => {
    const [one] = await run('grpo_baseline_dapo_workflow', { prompt: '1+1', answer: 2 }, [tagged('3')], { attempts: 1 })
    expect(one).toMatchObject({ reward: 0, metrics: { attempts: 1 } })
  })

  it.each(['grpo', 'gspo', 'opmd'])('step_%s: every attempt with the reward of the whole', async (kind) => {
    const row = { question: 'Half of 7?', answer: '3.5' }
    const steps = await run(`step_${kind}_dapo_workflow`, row, [tagged('4'), tagged('7/2')])
    expect(steps.map(({ reward, eid }) => [reward, eid.step])).toEqual([
      [1, 0],
      [1, 1],
    ])
    expect(steps[1].promptText).toContain('Half of 7?')
    expect(steps.map(({ metrics }) => metrics.attempts)).toEqual([2, 2])
    expect(steps.map(({ metrics }) => metrics.trajectory_response_tokens)).toEqual([undefined, 36 + 38])
    expect(steps[0].info).toMatchObject({ env_state: 'Half of 7?', step_reward: 0 })
    // A reply of bad form ends it.
    expect(await run(`step_${kind}_dapo_workflow`, row, ['?', tagged('7/2')])).toHaveLength(1)
  })
})
