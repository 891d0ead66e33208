import './builtin/index.js'

export type { ChatArgs, ModelLimits, SamplingArgs } from './args.js'
export { auxiliaryName, workflowArgs } from './arguments.js'
export { type AuxiliaryModel, AuxiliaryModels } from './auxiliary.js'
export type { WorkflowContext } from './context.js'
export { type Answered, RolloutModel, type RolloutModelParts } from './model.js'
export { MultiTurnWorkflow, type Outcome } from './multi-turn.js'
export type { OpenAIClient } from './openai/client.js'
export { parseToolCalls } from './openai/tool-calls.js'
export { type Scores, scoreResponse } from './reward.js'
export { ScalarReward } from './scalar-reward.js'
export { deriveSeed } from './seed.js'
export { SimpleWorkflow } from './simple.js'
export { RewardPropagationWorkflow, StepWiseRewardWorkflow } from './step-wise.js'
export { type ModelText, openModelText } from './text.js'
export {
  argsOf,
  Workflow,
  type WorkflowClass,
  type WorkflowEntry,
  type WorkflowFunction,
  workflows,
} from './workflow.js'
