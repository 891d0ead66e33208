import { Registry } from '../base/registry.js'
import { AgentscopeAdapterV1Workflow, AgentscopeAdapterWorkflow } from './agent/agentscope.js'
import { CommandWorkflow } from './agent/command.js'
import { BotsMathBoxedWorkflow, BotsRefEvalCollectWorkflow } from './builtin/bots.js'
import { OnPolicyDistillMathWorkflow, OnPolicyDistillWorkflow } from './builtin/distill.js'
import { Learn2AskWorkflow } from './builtin/learn2ask.js'
import { MathBoxedWorkflow, MathEvalWorkflow, MathWorkflow } from './builtin/math.js'
import { MathRewardModelWorkflow } from './builtin/reward-model.js'
import { RubricJudgeOpenaiWorkflow, RubricJudgeWorkflow } from './builtin/rubric.js'
import { MathRulerWorkflow, MathTrainableRulerWorkflow } from './builtin/ruler.js'
import { SyntheticWorkflow } from './builtin/synthetic.js'
import { ThinkingBudgetWorkflow } from './builtin/thinking-budget.js'
import { ToolCallWorkflow } from './builtin/tool-call.js'
import { EnvironmentWorkflow } from './environment/concatenated.js'
import { StepWiseEnvironmentWorkflow } from './environment/step-wise.js'
import { worldWorkflows } from './environment/worlds.js'
import { studyWorkflows } from './r3l/names.js'
import { ReactGsm8kWorkflow, ReactPythonMathWorkflow } from './react/math.js'
import { ReactSearchWorkflow } from './react/search.js'
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
  math_trainable_ruler_workflow: MathTrainableRulerWorkflow,
  rubric_judge_workflow: RubricJudgeWorkflow,
  rubric_judge_openai_workflow: RubricJudgeOpenaiWorkflow,
  on_policy_distill_workflow: OnPolicyDistillWorkflow,
  on_policy_distill_math_workflow: OnPolicyDistillMathWorkflow,
  thinking_budget_workflow: ThinkingBudgetWorkflow,
  tool_call_workflow: ToolCallWorkflow,
  bots_math_boxed_workflow: BotsMathBoxedWorkflow,
  bots_ref_eval_collect_math_boxed_workflow: BotsRefEvalCollectWorkflow,
  learn2ask_workflow: Learn2AskWorkflow,
  synthetic_workflow: SyntheticWorkflow,
  command_workflow: CommandWorkflow,
  agentscope_workflow_adapter: AgentscopeAdapterWorkflow,
  agentscope_workflow_adapter_v1: AgentscopeAdapterV1Workflow,
  agentscope_react_workflow: ReactGsm8kWorkflow,
  agentscope_react_math_workflow: ReactPythonMathWorkflow,
  agentscope_v1_react_search_workflow: ReactSearchWorkflow,
  environment_workflow: EnvironmentWorkflow,
  step_wise_environment_workflow: StepWiseEnvironmentWorkflow,
  ...worldWorkflows,
  ...studyWorkflows,
  // Everything is asynchronous here; the names exist in configuration files.
  async_simple_workflow: SimpleWorkflow,
  async_math_workflow: MathWorkflow,
  async_math_boxed_workflow: MathBoxedWorkflow,
  async_math_eval_workflow: MathEvalWorkflow,
  async_math_rm_workflow: MathRewardModelWorkflow,
  async_math_ruler_workflow: MathRulerWorkflow,
  toolcall_workflow: ToolCallWorkflow,
  as_react_workflow: ReactGsm8kWorkflow,
  agentscopev0_react_math_workflow: ReactPythonMathWorkflow,
  BOTSMathBoxedWorkflow: BotsMathBoxedWorkflow,
  Learn2AskWorkflow,
})
