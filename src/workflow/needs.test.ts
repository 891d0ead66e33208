import { expect, it } from 'vitest'
import { needsOf } from './needs.js'
import { workflows } from './registry.js'
import { SimpleWorkflow } from './simple.js'

class OwnQuestion extends SimpleWorkflow {
  override messages() {
    return [{ role: 'user', content: 'Guess a digit.' }]
  }
}
class OwnJudge extends SimpleWorkflow {
  override reward() {
    return { length: 1 }
  }
}
class Renamed extends SimpleWorkflow {}
const own = { test_own_question: OwnQuestion, test_own_judge: OwnJudge, test_renamed: Renamed }
for (const [name, entry] of Object.entries(own)) workflows.add(name, entry)

it.each([
  ['simple_workflow', undefined, true, false],
  ['simple_workflow', 'math_reward', true, true],
  ['simple_workflow', 'format_reward', true, false],
  ['math_workflow', undefined, true, true],
  ['math_workflow', 'format_reward', true, false],
  ['math_boxed_workflow', undefined, true, true],
  ['math_eval_workflow', undefined, false, true],
  ['math_rm_workflow', undefined, true, false],
  ['rubric_judge_workflow', undefined, true, false],
  ['math_ruler_workflow', undefined, true, true],
  ['on_policy_distill_workflow', undefined, true, false],
  ['on_policy_distill_math_workflow', undefined, true, true],
  ['thinking_budget_workflow', undefined, true, false],
  ['environment_workflow', undefined, false, false],
  ['step_wise_environment_workflow', undefined, false, false],
  ['grid_world_workflow', undefined, false, false],
  ['nobody_knows', undefined, false, false],
  ['test_own_question', 'math_reward', false, true],
  ['test_own_judge', 'math_reward', true, false],
  ['test_renamed', 'math_reward', true, true],
])('%s with %s: prompt %s, truth %s', (workflow, rewardFn, prompt, truth) => {
  expect(needsOf({ workflow, rewardFn })).toEqual({ prompt, truth })
})
