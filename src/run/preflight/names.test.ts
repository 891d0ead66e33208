import { expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import type { Config } from '../../config/index.js'
import { unknownNames } from './names.js'

/** Names are looked up again when a run begins: plugins may be others than when the file was read. */
function withTaskset(change: object, mode: Config['mode'] = 'both'): Config {
  const config = withKeys({})
  const input = config.buffer.explorer_input
  const tasksets = input.tasksets.map((one) => ({ ...one, ...change }))
  return {
    ...config,
    mode,
    buffer: { ...config.buffer, explorer_input: { ...input, tasksets, eval_tasksets: tasksets } },
  }
}

it('says each unknown name once, with the nearest one', () => {
  expect(unknownNames(withKeys({}))).toEqual([])
  const problems = unknownNames(
    withTaskset({ default_workflow_type: 'math_workflw', default_reward_fn_type: 'math_rewad' }),
  )
  expect(problems.map(({ error }) => `${error.message} ${error.hint}`)).toEqual([
    expect.stringMatching(/math_workflw.*math_workflow/),
    expect.stringMatching(/math_rewad.*math_reward/),
  ])
})

it('says arguments that a reward does not take', () => {
  const [problem] = unknownNames(withTaskset({ default_reward_fn_type: 'math_reward', reward_fn_args: { no_such: 1 } }))
  expect(problem.error.message).toContain('no_such')
})

it('has nothing to look up where nothing is explored', () => {
  expect(unknownNames(withTaskset({ default_workflow_type: 'no_such' }, 'train'))).toEqual([])
})

it('takes a Python class by its last name, and says how to bring one that nothing stands for', () => {
  const named = (name: string) => unknownNames(withTaskset({ default_workflow_type: name }))
  expect(named('trinity.common.workflows.math_rm.MathRMWorkflow')).toEqual([])
  expect(named('examples.mine.workflow.MyOwnWorkflow')).toMatchObject([
    {
      error: {
        message: "unknown workflow 'examples.mine.workflow.MyOwnWorkflow'",
        hint: expect.stringContaining("'my_own_workflow'"),
      },
    },
  ])
})

it('knows where a name may stand in the file', () => {
  const [{ keys }] = unknownNames(withTaskset({ default_workflow_type: 'no_such' }))
  expect(keys).toEqual([
    'buffer.explorer_input.tasksets[0].default_workflow_type',
    'buffer.explorer_input.default_workflow_type',
  ])
})

it('says of workflows about images that they are not part of this version', () => {
  for (const name of ['simple_mm_workflow', 'async_simple_mm_workflow']) {
    const [{ error, keys }] = unknownNames(withTaskset({ default_workflow_type: name }))
    expect(error).toMatchObject({ code: 'workflow/vision', hint: expect.stringContaining('simple_workflow') })
    expect(keys[0]).toBe('buffer.explorer_input.tasksets[0].default_workflow_type')
  }
})

it('refuses tasks whose images nobody would see', () => {
  const config = withTaskset({})
  const [set] = config.buffer.explorer_input.tasksets
  expect(unknownNames(withTaskset({ format: { ...set.format, image_key: 'images' } }))).toMatchObject([
    { keys: ['buffer.explorer_input.tasksets[0].format.image_key', expect.anything()], error: { code: 'task/media' } },
  ])
})
