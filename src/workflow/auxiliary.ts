import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
import type { RewardModel } from '../engine/contract.js'
import type { RolloutModel } from './rollout-model.js'
import type { ScalarReward } from './scalar-reward.js'
import type { ModelText } from './text.js'

/** What an entry of `explorer.auxiliary_models` is for one run. */
export interface AuxiliaryModel {
  readonly name: string
  readonly chat?: RolloutModel
  readonly reward?: ScalarReward
}

/** A sequence classifier with its tokenizer, as the explorer is given it. */
export interface OpenReward {
  readonly model: RewardModel
  readonly text: ModelText
}

/** The auxiliary models of a run. */
export class AuxiliaryModels {
  readonly #models: readonly AuxiliaryModel[]

  constructor(models: readonly AuxiliaryModel[] = []) {
    this.#models = models
  }

  get names(): string[] {
    return this.#models.map(({ name }) => name)
  }

  /** Of those that answer. */
  get chatNames(): string[] {
    return this.#models.flatMap(({ name, chat }) => (chat ? [name] : []))
  }

  /** A model that answers: judge or teacher. */
  chat(which: string | number = 0): RolloutModel {
    const { name, chat } = this.#find(which)
    if (chat) return chat
    throw new TrinityError('workflow/auxiliary', `auxiliary model '${name}' is a reward model: it cannot answer`, {
      path: 'explorer.auxiliary_models',
      hint: 'name a generative model, or use auxiliary.reward()',
    })
  }

  /** A model that gives a number to a whole conversation. */
  reward(which: string | number = 0): ScalarReward {
    const { name, reward } = this.#find(which)
    if (reward) return reward
    throw new TrinityError('workflow/auxiliary', `auxiliary model '${name}' has no head that gives one number`, {
      path: 'explorer.auxiliary_models',
      hint: 'name a sequence classifier with one label, or ask the model as a judge with auxiliary.chat()',
    })
  }

  #find(which: string | number): AuxiliaryModel {
    const found = typeof which === 'number' ? this.#models[which] : this.#models.find(({ name }) => name === which)
    if (found) return found
    const near = typeof which === 'string' ? nearest(which, this.names) : undefined
    const known = this.names.length > 0 ? `known: ${this.names.join(', ')}` : 'none is configured'
    throw new TrinityError('workflow/auxiliary', `there is no auxiliary model ${JSON.stringify(which)}`, {
      path: 'explorer.auxiliary_models',
      hint: (near ? `did you mean '${near}'? ` : '') + known,
    })
  }
}
