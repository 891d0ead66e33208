import { type BuiltLoss, buildCriticLoss, type KlController, klFns } from '../algorithm/index.js'
import type { Config } from '../config/index.js'
import type { TrainingNeeds } from '../engine/description.js'
import { AdvantageStage, klController } from './advantage.js'
import { hasKlPenalty, lossOf, trainerNeeds } from './needs.js'
import { type ActorSettings, actorSettings, type CriticSettings, criticSettings } from './settings.js'

/** Everything about training steps that a configuration alone decides. Making one finds what cannot be trained. */
export class TrainPlan {
  readonly needs: TrainingNeeds
  readonly actor: ActorSettings
  readonly critic?: CriticSettings
  readonly loss: BuiltLoss
  readonly criticLoss?: BuiltLoss
  readonly advantage: AdvantageStage
  /** Adaptive coefficients, by where they are used. */
  readonly controllers: Readonly<Record<string, KlController>>
  /** What a person should know. */
  readonly notes: readonly string[]

  /** `totalSteps`: training steps in all, where known. */
  constructor(config: Config, totalSteps?: number) {
    const { algorithm } = config
    this.needs = trainerNeeds(config)
    this.actor = actorSettings(config, totalSteps)
    this.advantage = new AdvantageStage(config, this.actor.seed)
    const klName = algorithm.kl_loss_fn ?? 'none'
    const controller = klController(klName, algorithm.kl_loss_fn_args, 'algorithm.kl_loss_fn_args')
    this.loss = lossOf(config, () => controller.coef)
    this.controllers = {
      ...(klFns.get(klName).formula ? { kl_loss: controller } : {}),
      ...(this.advantage.penalty ? { kl_penalty: this.advantage.penalty.controller } : {}),
    }
    if (this.needs.critic) {
      this.critic = criticSettings(config, totalSteps)
      this.criticLoss = buildCriticLoss(this.critic)
    }
    const idle = hasKlPenalty(config) && !this.advantage.penalty
    const { fn } = this.advantage
    const imitatesAll = fn && !fn.selects && !this.loss.columns.some(({ name }) => name === 'advantage')
    this.notes = [
      ...(idle
        ? ['algorithm.kl_penalty_fn has no effect: the advantages are computed by the explorer, before the reference']
        : []),
      ...(imitatesAll
        ? [
            `algorithm.advantage_fn: ${algorithm.advantage_fn} has no effect: ${algorithm.policy_loss_fn} does not read ` +
              'advantages, so that all rollouts are learned, whatever their reward; raft selects the best of a group',
          ]
        : []),
      ...[this.actor, this.critic].flatMap((settings) => settings?.schedule.note ?? []),
    ]
  }
}
