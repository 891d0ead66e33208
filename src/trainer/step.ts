import { algorithms, DIVISORS, type KlController } from '../algorithm/index.js'
import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { ScoreModel, TrainModel, Want } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import { batchMetrics, totalTokens } from './batch-metrics.js'
import { mismatch } from './mismatch.js'
import { TrainPlan } from './plan.js'
import { PairColumns, type ScoresById, scoreAll, withEntropy, withScores } from './scores.js'
import { Stopwatch } from './stopwatch.js'
import { type UpdateResult, update } from './update.js'
import { emptyByReason, longestOf, type Trainable, trainable, usable } from './usable.js'

/** The models that a training step uses. */
export interface StepModels {
  readonly policy: TrainModel
  readonly reference?: ScoreModel
  readonly critic?: TrainModel
}

/** What a training step goes by. */
export interface StepOptions {
  readonly config: Config
  /** Training steps in all, where known. */
  readonly totalSteps?: number
  /** Told what a person should know. */
  readonly note?: (text: string) => void
}

/** What a training step tells of itself. */
export interface StepResult {
  readonly metrics: Record<string, number>
  /** Experiences that the policy or the critic learned from. */
  readonly trained: number
}

/**
 * One training step: from a list of experiences to new weights and numbers about them.
 * @example
 * import type { Experience } from 'trinity-rft'
 * import { type StepModels, TrainStep } from 'trinity-rft/algorithm'
 * import type { Config } from 'trinity-rft/config'
 *
 * export async function trainOnce(models: StepModels, config: Config, experiences: Experience[]) {
 *   const { metrics } = await new TrainStep(models, { config }).run(experiences, 1)
 *   return metrics['actor/loss']
 * }
 */
export class TrainStep {
  readonly #config: Config
  readonly #models: StepModels
  readonly #note: (text: string) => void
  readonly #plan: TrainPlan
  readonly #noted = new Set<'too long' | 'cut'>()

  constructor(models: StepModels, { config, totalSteps, note = () => {} }: StepOptions) {
    this.#config = config
    this.#models = models
    this.#note = note
    this.#plan = new TrainPlan(config, totalSteps)
    const { needs } = this.#plan
    if (needs.reference && !needs.referenceIsBase && !models.reference) throw missing('a reference model')
    if (needs.critic && !models.critic) throw missing('a critic')
    this.#plan.notes.forEach(note)
  }

  /** Adaptive coefficients, by where they are used. They belong into a checkpoint. */
  get controllers(): Readonly<Record<string, KlController>> {
    return this.#plan.controllers
  }

  /** Trains on one batch. The models hold no gradient afterward, whatever came of it. */
  async run(given: readonly Experience[], step: number, signal?: AbortSignal): Promise<StepResult> {
    const watch = new Stopwatch()
    const { policy } = this.#models
    const { experiences: fit, skipped } = usable(given, policy.info.maxModelLen)
    this.#noteLengths(given, step, skipped.too_long ?? 0)
    const pairs = new PairColumns()
    const old = await this.#old(fit, pairs, watch, signal)
    const scored = await this.#values(await this.#reference(old.experiences, pairs, watch, signal), watch, signal)
    const rated = await watch.time('adv', () => this.#rate(scored, step))
    const batch = trainable(rated.experiences)
    const { experiences } = batch
    const metrics: Record<string, number> = { ...rated.metrics, ...batchMetrics(rated.experiences, this.#maxResponse) }
    const lost = { ...skipped, ...emptyByReason(batch.empty), unrated: scored.length - rated.experiences.length }
    for (const [reason, count] of Object.entries(lost)) if (count > 0) metrics[`sample/skipped/${reason}`] = count
    if (experiences.length === 0)
      this.#note(`step ${step}: nothing to train on in ${given.length} experiences ${why(lost)}`)
    else {
      await this.#updateCritic(batch, step, metrics, watch, signal)
      const updated = await this.#updateActor(batch, step, pairs, metrics, watch, signal)
      const scores = old.scores ?? updated?.scores
      Object.assign(
        metrics,
        mismatch(experiences, (id) => scores?.get(id)?.logprob),
      )
    }
    const seconds = watch.total()
    watch.add('train_step', seconds)
    const tokens = experiences.reduce((sum, experience) => sum + totalTokens(experience), 0)
    metrics['perf/total_num_tokens'] = tokens
    metrics['perf/time_per_step'] = seconds
    metrics['perf/throughput'] = tokens / seconds
    for (const part of ['update_actor', 'update_critic', 'old_log_prob', 'ref', 'values'] as const) {
      if (watch.get(part) > 0 && tokens > 0) metrics[`timing_per_token_ms/${part}`] = (1000 * watch.get(part)) / tokens
    }
    return { metrics: { ...metrics, ...watch.metrics() }, trained: experiences.length }
  }

  /** Limit of sampled responses; null for a data set, whose answers are not held to it. */
  get #maxResponse(): number | null {
    const { algorithm, model } = this.#config
    return algorithms.get(algorithm.algorithm_type).schema === 'experience' ? model.max_response_tokens : null
  }

  /** Notes the first sequences that do not fit the model, once per run each; metrics count all of them. */
  #noteLengths(given: readonly Experience[], step: number, tooLong: number): void {
    const { maxModelLen } = this.#models.policy.info
    const limit = `the model takes ${maxModelLen} (model.max_model_len)`
    if (tooLong > 0 && !this.#noted.has('too long')) {
      this.#noted.add('too long')
      this.#note(
        `step ${step}: ${tooLong} of ${given.length} sequences are left out: the longest has ${longestOf(given)} tokens, ` +
          `${limit}; sample/skipped/too_long counts them`,
      )
    }
    const cut = given.filter(({ logprobs, truncateStatus }) => !logprobs && truncateStatus === 'response_truncated')
    if (cut.length > 0 && !this.#noted.has('cut')) {
      this.#noted.add('cut')
      this.#note(
        `step ${step}: ${cut.length} of ${given.length} texts are cut: ${limit}; sample/truncated_count counts them`,
      )
    }
  }

  #reads(column: string): boolean {
    return this.#plan.loss.columns.some(({ name }) => name === column)
  }

  /** Log-probs of the policy before the update, where the recorded ones will not do. */
  async #old(experiences: Experience[], pairs: PairColumns, watch: Stopwatch, signal?: AbortSignal) {
    const { fn, isHere, penalty, correction, wantsEntropy } = this.#plan.advantage
    const reads = this.#reads('old') || penalty !== undefined || (isHere && fn?.needs.includes('logprobs'))
    const again = correction !== undefined || (reads && !this.#config.algorithm.bypass_old_logprobs)
    const forPairs = this.#reads('old') && experiences.some(({ type }) => type === 'dpo')
    if (!again && !wantsEntropy && !forPairs) return { experiences }
    const want: Want = { scores: wantsEntropy ? ['logprob', 'entropy'] : ['logprob'] }
    const { policy } = this.#models
    const scores = await watch.time('old_log_prob', () =>
      scoreAll(policy, experiences, want, this.#plan.actor.scoreBudget, nextCall(signal)),
    )
    if (forPairs) pairs.add('old', scores)
    const known = again ? withScores(experiences, scores, 'logprob', 'oldLogprobs') : experiences
    return { experiences: wantsEntropy ? withEntropy(known, scores) : known, scores }
  }

  async #reference(experiences: Experience[], pairs: PairColumns, watch: Stopwatch, signal?: AbortSignal) {
    if (!this.#plan.needs.reference) return experiences
    const { reference, policy } = this.#models
    const want: Want = { scores: ['logprob'], adapter: reference ? 'on' : 'off' }
    const scores: ScoresById = await watch.time('ref', () =>
      scoreAll(reference ?? policy, experiences, want, this.#plan.actor.referenceBudget, nextCall(signal)),
    )
    pairs.add('ref', scores)
    return withScores(experiences, scores, 'logprob', 'refLogprobs')
  }

  async #values(experiences: Experience[], watch: Stopwatch, signal?: AbortSignal): Promise<Experience[]> {
    const [critic, settings] = [this.#models.critic, this.#plan.critic]
    if (!critic || !settings) return experiences
    const scores = await watch.time('values', () =>
      scoreAll(critic, experiences, { scores: ['value'] }, settings.scoreBudget, nextCall(signal)),
    )
    return withScores(experiences, scores, 'value', 'values')
  }

  #rate(experiences: Experience[], step: number) {
    const isMissing =
      this.#reads('advantage') && experiences.every(({ advantages, info }) => !advantages || info.is_expert === true)
    const rated = this.#plan.advantage.run(experiences, step, isMissing)
    const corrected = this.#plan.advantage.correct(rated.experiences)
    return { experiences: corrected.experiences, metrics: { ...rated.metrics, ...corrected.metrics } }
  }

  async #updateCritic(
    { experiences, empty }: Trainable,
    step: number,
    metrics: Record<string, number>,
    watch: Stopwatch,
    signal?: AbortSignal,
  ): Promise<void> {
    const [model, settings, loss] = [this.#models.critic, this.#plan.critic, this.#plan.criticLoss]
    if (!model || !settings || !loss) return
    const own = (all: readonly Experience[]) => all.filter(({ info }) => info.is_expert !== true)
    const result = await watch.time('update_critic', () =>
      update({ model, loss, settings, experiences: own(experiences), empty: own(empty), step, signal }),
    )
    this.#report('critic', result, step, metrics)
  }

  async #updateActor(
    { experiences, empty }: Trainable,
    step: number,
    pairs: PairColumns,
    metrics: Record<string, number>,
    watch: Stopwatch,
    signal?: AbortSignal,
  ): Promise<UpdateResult | undefined> {
    if (this.#plan.critic && step < this.#config.trainer.critic_warmup) return undefined
    const { policy: model } = this.#models
    const { loss, actor: settings } = this.#plan
    const result = await watch.time('update_actor', () =>
      update({ model, loss, settings, experiences, empty, step, pairs, signal }),
    )
    this.#report('actor', result, step, metrics)
    if ('kl_loss' in result.metrics) {
      // rows without a token say nothing of how far the policy is from its reference
      const dilution = result.dilution[DIVISORS[this.#config.algorithm.loss_agg_mode ?? 'token-mean']] ?? 1
      this.controllers.kl_loss?.update(result.metrics.kl_loss * dilution, experiences.length)
    }
    return result
  }

  #report(who: string, result: UpdateResult, step: number, metrics: Record<string, number>): void {
    for (const [name, value] of Object.entries(result.metrics)) metrics[`${who}/${name}`] = value
    metrics[`${who}/updates`] = result.updates - result.refused
    if (result.refused === 0) return
    metrics[`${who}/refused_updates`] = result.refused
    this.#note(
      `step ${step}: ${result.refused} of ${result.updates} updates of the ${who} had a loss or a gradient that is ` +
        'not finite and were not applied',
    )
  }
}

function why(lost: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(lost).filter(([, count]) => count > 0)
  return `(${reasons.map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`).join(', ') || 'none given'})`
}

function missing(what: string): TrinityError {
  return new TrinityError('trainer/missing-model', `this algorithm needs ${what}, but the trainer was given none`, {
    path: 'algorithm.algorithm_type',
    hint: 'open what trainerNeeds(config) asks for',
  })
}
