/**
 * What to learn from experiences: advantages, losses, KL, entropy, the choice of samples, and the algorithms that
 * combine them.
 */

export {
  type AdvantageContext,
  type AdvantageFn,
  type AdvantageNeed,
  type AdvantageResult,
  advantageFn,
  assign,
  rewardOf,
  spread,
} from './advantage/advantage.js'
export { advantageFns } from './advantage/registry.js'
export { type Aggregate, aggregate, aggregateRows, DIVISORS, type RowSet } from './aggregate.js'
export { type Algorithm, type AlgorithmDefaults, algorithm } from './algorithm.js'
export { buildCriticLoss } from './critic-loss.js'
export { type EntropyLoss, entropyLoss } from './entropy/entropy.js'
export { entropyLossFns } from './entropy/registry.js'
export { type AggMode, aggMode, atLeast0, type Entry, fraction, open, positive } from './entry.js'
export { KlController } from './kl/controller.js'
export { type KlArgs, type KlFn, klFn } from './kl/kl.js'
export { applyKlPenalty } from './kl/penalty.js'
export { klFns } from './kl/registry.js'
export { type BuiltLoss, buildLoss, type LossConfig } from './loss.js'
export { clipArgs, clipKnown, clipMissing, clippedSurrogate, fillClip, type Ppo } from './policy-loss/clip.js'
export { type PolicyLoss, type PolicyLossContext, policyLoss, report } from './policy-loss/policy-loss.js'
export { policyLossFns } from './policy-loss/registry.js'
export { algorithms } from './registry.js'
export { type RolloutCorrection, rolloutCorrectionArgs } from './rollout-correction/args.js'
export { correctRollout } from './rollout-correction/correct.js'
export { type RowContext, toRows } from './rows.js'
export { sampleStrategies } from './sample-strategy/registry.js'
export {
  type ExperienceSource,
  type Sampled,
  type SampleSources,
  type SampleStrategy,
  sampleStrategy,
} from './sample-strategy/sample-strategy.js'
