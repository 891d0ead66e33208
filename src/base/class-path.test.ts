import { expect, it } from 'vitest'
import { classOf, nameOfClass, portHint } from './class-path.js'

it('the class of an import path; ordinary names have none', () => {
  expect(classOf('my_pkg.flows.MyFlow')).toBe('MyFlow')
  for (const name of ['math_workflow', 'v1.5', 'a..b', '.a', 'a.', '']) expect(classOf(name)).toBeUndefined()
})

it.each([
  ['MathRMWorkflow', 'math_rm_workflow'],
  ['WebShopWorkflow', 'webshop_workflow'],
  ['CountDownRewardFn', 'countdown_reward'],
  ['BOTSMathBoxedWorkflow', 'BOTSMathBoxedWorkflow'],
  ['MathWorkflows', undefined],
])('%s is %s', (own, name) => {
  const names = ['math_rm_workflow', 'webshop_workflow', 'countdown_reward', 'BOTSMathBoxedWorkflow', 'math_workflow']
  expect(nameOfClass(own, names)).toBe(name)
})

it('one that nothing stands for is told how to move', () => {
  expect(portHint('MyFlow')).toContain("'my_flow'")
})
