import { advantageFns, algorithms, type BuiltLoss, buildLoss, type LossConfig } from '../algorithm/index.js'
import type { Config } from '../config/index.js'

/** What training with this configuration asks of the models, known before any of them is opened. */
export interface TrainerNeeds {
  readonly critic: boolean
  /** Log-probs of the first policy are read by the loss or by the KL penalty. */
  readonly reference: boolean
  /** The reference is the policy without its adapter: no second model has to be opened. */
  readonly referenceIsBase: boolean
}

export function trainerNeeds(config: Config): TrainerNeeds {
  const { algorithm } = config
  const reads = lossOf(config).columns.some(({ name }) => name === 'ref')
  return {
    critic: algorithms.get(algorithm.algorithm_type).use_critic,
    reference: reads || (hasKlPenalty(config) && advantageInTrainer(config)),
    referenceIsBase: (config.model.lora_configs?.length ?? 0) > 0,
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
