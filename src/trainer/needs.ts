import { advantageFns, algorithms, type BuiltLoss, buildLoss } from '../algorithm/index.js'
import { type Config, trainerTree } from '../config/index.js'
import type { TrainingNeeds } from '../engine/description.js'
import { criticTokens, policyTokens } from './micro-batch.js'

/** What training with this configuration asks of the models, known before any of them is opened. */
export function trainerNeeds(config: Config): TrainingNeeds {
  const { algorithm } = config
  const loss = lossOf(config)
  return {
    critic: algorithms.get(algorithm.algorithm_type).use_critic,
    reference: loss.columns.some(({ name }) => name === 'ref') || (hasKlPenalty(config) && advantageInTrainer(config)),
    referenceIsBase: (config.model.lora_configs?.length ?? 0) > 0,
    bundles: loss.coupling === 'bundle',
    actorTokens: policyTokens(config).train,
    referenceTokens: policyTokens(config).reference,
    criticTokens: criticTokens(config).train,
  }
}

export function lossOf(config: Config, klCoef?: () => number): BuiltLoss {
  const { actor } = trainerTree(config).actor_rollout_ref
  return buildLoss(config.algorithm, { klCoef, scale: actor.loss_scale_factor ?? undefined })
}

export function hasKlPenalty({ algorithm }: Config): boolean {
  return algorithm.kl_penalty_fn !== null && algorithm.kl_penalty_fn !== 'none'
}

export function advantageInTrainer({ algorithm }: Config): boolean {
  return algorithm.advantage_fn !== null && advantageFns.get(algorithm.advantage_fn).where === 'trainer'
}
