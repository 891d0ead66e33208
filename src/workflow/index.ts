/**
 * How a task is worked on: the classes that a user extends, the model as they see it, and the workflows that come
 * with it.
 */

export { deriveSeed } from '../base/random/derive-seed.js'
export type { ChatArgs, SamplingArgs } from '../dialect/chat-args.js'
export type { Answered } from '../dialect/chat-model.js'
export type { OpenAIClient } from '../dialect/openai/client.js'
export { parseToolCalls } from '../dialect/tool-calls.js'
export { type AgentFunction, agent } from './agent/agent.js'
export type { AgentTask } from './agent/agent-task.js'
export type { AgentReward } from './agent/rewards.js'
export type { AgentOptions, AgentRollout } from './agent/rollout.js'
export { type AuxiliaryModel, AuxiliaryModels } from './auxiliary.js'
export type { WorkflowContext } from './context.js'
export { MultiTurnWorkflow, type Outcome } from './multi-turn.js'
export { needsOf } from './needs.js'
export { workflows } from './registry.js'
export { type RewardScores, scoreResponse } from './reward.js'
export { RolloutModel, type RolloutModelParts } from './rollout-model.js'
export type { ModelLimits } from './sampling.js'
export { ScalarReward } from './scalar-reward.js'
export { SimpleWorkflow } from './simple.js'
export { RewardPropagationWorkflow, StepWiseRewardWorkflow } from './step-wise.js'
export { type ModelText, openModelText } from './text.js'
export {
  argsOf,
  Workflow,
  type WorkflowClass,
  type WorkflowEntry,
  type WorkflowFunction,
} from './workflow.js'
export { auxiliaryName, workflowArgs } from './workflow-args.js'
