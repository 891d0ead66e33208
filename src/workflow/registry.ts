import { Registry } from '../base/registry.js'
import { OnPolicyDistillMathWorkflow, OnPolicyDistillWorkflow } from './builtin/distill.js'
import { MathRulerWorkflow, RubricJudgeWorkflow } from './builtin/judge.js'
import { MathBoxedWorkflow, MathEvalWorkflow, MathWorkflow } from './builtin/math.js'
import { MathRewardModelWorkflow } from './builtin/reward-model.js'
import { ThinkingBudgetWorkflow } from './builtin/thinking-budget.js'
import { ToolCallWorkflow } from './builtin/tool-call.js'
import { EnvironmentWorkflow } from './environment/concatenated.js'
import { StepWiseEnvironmentWorkflow } from './environment/step-wise.js'
import { worldWorkflows } from './environment/worlds.js'
import { SimpleWorkflow } from './simple.js'
import type { WorkflowEntry } from './workflow.js'

/**
 * Workflows by the name that `default_workflow_type` gives.
 * @example
 * import { SimpleWorkflow, workflows } from 'trinity-rft'
 *
 * workflows.add('polite', class extends SimpleWorkflow {
 *   override reward({ responseText = '' }) {
 *     return { polite: responseText.includes('please') ? 1 : 0 }
 *   }
 * })
 */
export const workflows = new Registry<WorkflowEntry>('workflow', {
  simple_workflow: SimpleWorkflow,
  math_workflow: MathWorkflow,
  math_boxed_workflow: MathBoxedWorkflow,
  math_eval_workflow: MathEvalWorkflow,
  math_rm_workflow: MathRewardModelWorkflow,
  math_ruler_workflow: MathRulerWorkflow,
  rubric_judge_workflow: RubricJudgeWorkflow,
  on_policy_distill_workflow: OnPolicyDistillWorkflow,
  on_policy_distill_math_workflow: OnPolicyDistillMathWorkflow,
  thinking_budget_workflow: ThinkingBudgetWorkflow,
  tool_call_workflow: ToolCallWorkflow,
  environment_workflow: EnvironmentWorkflow,
  step_wise_environment_workflow: StepWiseEnvironmentWorkflow,
  ...worldWorkflows,
  // Everything is asynchronous here; the names exist in configuration files.
  async_simple_workflow: SimpleWorkflow,
  async_math_workflow: MathWorkflow,
  async_math_boxed_workflow: MathBoxedWorkflow,
  async_math_eval_workflow: MathEvalWorkflow,
  async_math_rm_workflow: MathRewardModelWorkflow,
  async_math_ruler_workflow: MathRulerWorkflow,
  toolcall_workflow: ToolCallWorkflow,
})
