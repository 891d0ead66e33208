import { advantageFns, algorithms, type BuiltLoss, buildLoss, type LossConfig } from '../algorithm/index.js'
import type { Config } from '../config/index.js'
import type { TrainingNeeds } from '../engine/description.js'
import { actorTokens, criticTokens } from './settings.js'

/** What training with this configuration asks of the models, known before any of them is opened. */
export function trainerNeeds(config: Config): TrainingNeeds {
  const { algorithm } = config
  const loss = lossOf(config)
  return {
    critic: algorithms.get(algorithm.algorithm_type).use_critic,
    reference: loss.columns.some(({ name }) => name === 'ref') || (hasKlPenalty(config) && advantageInTrainer(config)),
    referenceIsBase: (config.model.lora_configs?.length ?? 0) > 0,
    bundles: loss.coupling === 'bundle',
    actorTokens: (longest) => actorTokens(config, longest),
    criticTokens: (longest) => criticTokens(config, longest),
  }
}

export function lossOf(config: Config, klCoef?: () => number): BuiltLoss {
  return buildLoss(config.algorithm as LossConfig, { klCoef })
}

export function hasKlPenalty({ algorithm }: Config): boolean {
  return algorithm.kl_penalty_fn !== null && algorithm.kl_penalty_fn !== 'none'
}

export function advantageInTrainer({ algorithm }: Config): boolean {
  return algorithm.advantage_fn !== null && advantageFns.get(algorithm.advantage_fn).where === 'trainer'
}
