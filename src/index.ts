/**
 * The public API: what a plugin registers with, what a program drives, and the engines.
 *
 * Plugins import from here and get the modules of the running program.
 * @module
 */

/** Arguments of components are described with zod; plugins use this one. */
export { z } from 'zod'
// Algorithms and losses.
export {
  type AdvantageFn,
  type AggMode,
  type Algorithm,
  advantageFn,
  advantageFns,
  algorithm,
  algorithms,
  assign,
  buildCriticLoss,
  buildLoss,
  type EntropyLoss,
  entropyLoss,
  entropyLossFns,
  KlController,
  type KlFn,
  klFn,
  klFns,
  type PolicyLoss,
  policyLoss,
  policyLossFns,
  rewardOf,
  type SampleStrategy,
  sampleStrategies,
  sampleStrategy,
  spread,
  toRows,
} from './algorithm/index.js'
// What goes wrong, and how names are found.
export { TrinityError, type TrinityErrorOptions } from './base/error.js'
export { Pcg64 } from './base/random/index.js'
export { Registry } from './base/registry.js'
// Experiences, and what stands between rollout and training.
export {
  bufferKinds,
  type ExperienceBuffer,
  ExperienceFile,
  ExperienceView,
  openBuffer,
  priorityFn,
  priorityFns,
} from './buffer/index.js'
// The loop.
export { Checkpoints } from './checkpoint/index.js'
// Configuration.
export {
  type Config,
  ConfigError,
  jsonSchema,
  loadConfig,
  machineFacts,
  parseConfig,
  printConfig,
  type Resolved,
  resolveConfig,
} from './config/index.js'
// Models and engines.
export type * from './engine/contract.js'
export type { EngineContext, EngineDescription, TrainingNeeds } from './engine/description.js'
export { MockEngine, type MockOptions } from './engine/mock/engine.js'
export { NativeEngine } from './engine/native/engine.js'
export { engines } from './engine/registry.js'
export { TorchEngine } from './engine/torch/engine.js'
export type { MemoryNeed, TorchModelOptions, TorchOptions } from './engine/torch/options.js'
// Environments.
export {
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
  type Start,
  type Transition,
  type Turn,
} from './environment/index.js'
export {
  createExperience,
  decodeExperience,
  decodeExperiences,
  type Eid,
  type Experience,
  encodeExperience,
  encodeExperiences,
  formatters,
  fromJsonLine,
  groupBy,
  type Message,
  responseLength,
  rid,
  sid,
  TrainingData,
  tid,
  toJsonLine,
  uid,
} from './experience/index.js'
export {
  defineLoss,
  type Expr,
  evaluateLoss,
  graphHash,
  type LossGraph,
  type LossTrace,
  parseGraph,
  serializeGraph,
} from './graph/index.js'
// Tasks.
export { resolveRepo } from './hub/index.js'
export { importVerlText, type VerlImport } from './import-verl/import.js'
export {
  Chat,
  createModel,
  describeModel,
  estimateMemory,
  openModelDir,
  SafetensorsFile,
  saveModel,
  Tokenizer,
  writeSafetensors,
} from './model/index.js'
export { createView, type Monitor, monitorEntry, monitors, type RunView } from './monitor/index.js'
export { ExperiencePipeline, type Operator, operator, operators } from './pipeline/index.js'
// Workflows and rewards.
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
export { loadCatalog } from './run/catalog.js'
export { type RunOptions, type RunResult, run, Stop } from './run/index.js'
export {
  CountingSelector,
  openDataset,
  selector,
  selectors,
  type Task,
  Taskset,
  TasksetScheduler,
  taskStorages,
} from './task/index.js'
export { lrSchedules } from './trainer/index.js'
export {
  AuxiliaryModels,
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
