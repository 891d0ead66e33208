/**
 * What the author of an agent needs: workflows, rewards, environments, experiences, errors.
 *
 * The rest of the package is in its subpaths: `trinity-rft/agent`, `/algorithm`, `/engine`, `/config`, `/data`, `/plugin` and
 * `/testing`. Plugins import from all of them and get the modules of the running program.
 * @module
 */

/** Arguments of components are described with zod; plugins use this one. */
export { z } from 'zod'
export { TrinityError, type TrinityErrorOptions } from './base/error.js'
export { Pcg64 } from './base/random/index.js'
export {
  AlfWorld,
  type AlfWorldOptions,
  type Environment,
  type EnvironmentContext,
  type EnvironmentEntry,
  Episode,
  type EpisodeSpec,
  environment,
  environments,
  OpenEnvironment,
  openEnvironment,
  type Persona,
  ScienceWorld,
  type Start,
  type Transition,
  type Turn,
} from './environment/index.js'
export { createExperience, type Experience, type Message } from './experience/index.js'
export {
  type AnswerParser,
  type AnswerVerifier,
  answerParsers,
  answerVerifiers,
  extractAnswer,
  gradeMath,
  overlongPenalty,
  prepareReward,
  type RewardFn,
  type RewardInput,
  type RewardParts,
  rewardFn,
  rewardFns,
  toolCallReward,
} from './reward/index.js'
export { type ClientOptions, type FeedbackOptions, TrinityClient } from './serve/client.js'
export type { Task } from './task/index.js'
export {
  type AgentFunction,
  type AgentOptions,
  type AgentReward,
  type AgentRollout,
  type AgentTask,
  AuxiliaryModels,
  agent,
  type ChatArgs,
  MultiTurnWorkflow,
  type OpenAIClient,
  parseToolCalls,
  RewardPropagationWorkflow,
  RolloutModel,
  ScalarReward,
  SimpleWorkflow,
  StepWiseRewardWorkflow,
  scoreResponse,
  Workflow,
  type WorkflowContext,
  type WorkflowEntry,
  workflowArgs,
  workflows,
} from './workflow/index.js'
