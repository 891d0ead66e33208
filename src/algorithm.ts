/**
 * How a model learns: algorithms and their parts, losses as data, and the training step.
 * @module
 */

export {
  type AdvantageContext,
  type AdvantageFn,
  type AdvantageResult,
  type AggMode,
  type Algorithm,
  advantageFn,
  advantageFns,
  algorithm,
  algorithms,
  assign,
  type BuiltLoss,
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
  type PolicyLossContext,
  policyLoss,
  policyLossFns,
  rewardOf,
  type SampleStrategy,
  sampleStrategies,
  sampleStrategy,
  spread,
  toRows,
} from './algorithm/index.js'
export {
  defineLoss,
  type Evaluation,
  type Expr,
  evaluateLoss,
  graphHash,
  type LossGraph,
  type LossTrace,
  parseGraph,
  serializeGraph,
} from './graph/index.js'
export {
  type LrSchedule,
  lrSchedules,
  type StepModels,
  type StepOptions,
  type StepResult,
  Trainer,
  type TrainerParts,
  TrainStep,
  trainerNeeds,
} from './trainer/index.js'
