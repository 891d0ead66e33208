import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import type { Task } from '../../task/index.js'
import type { ReflectRetryArgs } from './args.js'
import { rescore } from './form.js'
import { guided } from './guidance.js'
import { type Advice, type Reflection, reflect } from './reflection.js'
import type { Unusable } from './report.js'
import { type Rollout, retryMetrics } from './rollout.js'
import { StudyWorkflow } from './study.js'

/**
 * Reflect, then retry: a rollout is looked through by the model itself, and played once more from the step that it names, with
 * its own report in view. What is learned is both attempts, the second as if nothing had been said to it.
 */
export abstract class ReflectRetryWorkflow extends StudyWorkflow {
  static override readonly givesAny = true

  protected get args(): ReflectRetryArgs {
    return this.study.args as ReflectRetryArgs
  }

  override async run(): Promise<Experience[]> {
    const first = await this.play(this.model)
    const base = this.grouped(this.learned(first))
    if (!this.isReflected(first)) return base
    const reflection = await this.#reflect(first)
    const { advice } = reflection
    const second = advice && (await this.#retry(first, advice))
    const unusable = typeof second === 'string' ? second : reflection.unusable
    const all =
      typeof second === 'object'
        ? await this.#both(first, base, second, advice!, reflection)
        : [...base, ...(unusable || !first.episode.won ? [] : this.#imitated('reflect', reflection.experience))]
    Object.assign(all[0].metrics, reflectionMetrics(unusable, advice === undefined))
    return all
  }

  /** Whether this rollout is one to think about. */
  protected isReflected({ episode, answers }: Rollout): boolean {
    const { reflect_retry, reflect_on } = this.args
    if (this.task.isEval || !reflect_retry || answers.length === 0) return false
    return reflect_on === 'all' || !episode.won
  }

  /** Says to which group first and second attempts belong. */
  protected grouped(experiences: Experience[]): Experience[] {
    return experiences
  }

  #reflect(first: Rollout): Promise<Reflection> | Reflection {
    const { reflection } = this.args
    if (reflection === 'random') return { advice: { pivot: this.random.below(first.episode.turn.step - 1) } }
    return reflect(this.model.branch('reflection'), first, this.study.world, this.args)
  }

  /** Steps of the first attempt that the second takes over. */
  #taken({ pivot }: Advice): number {
    return this.args.retry_from === 'pivot' ? pivot : 0
  }

  /** The second attempt, or why there is none. */
  async #retry(first: Rollout, advice: Advice): Promise<Rollout | Unusable> {
    const from = { rollout: first, steps: this.#taken(advice) }
    try {
      const second = await this.play(this.model.branch('retry'), { from, guidance: advice.guidance })
      // Guidance may leave no room for a reply.
      return second.answers.length > from.steps ? second : 'too_long'
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'environment/replay') throw error
      this.logger.warn(error.message)
      return 'replay'
    }
  }

  async #both(
    first: Rollout,
    base: Experience[],
    second: Rollout,
    advice: Advice,
    { experience }: Reflection,
  ): Promise<Experience[]> {
    const { form, world } = this.study
    const taken = this.#taken(advice)
    const asTold = (step: number) => second.episode.messagesAt(step)
    const asGuided = (step: number) =>
      advice.guidance === undefined ? asTold(step) : guided(asTold(step), advice.guidance, taken)
    const { context, credit } = this.args
    const isParted = credit !== 'none' && taken > 0
    const afterwards = (experiences: Experience[]) =>
      isParted ? form.only(experiences, (step) => step >= taken) : experiences
    const before = (experiences: Experience[]) =>
      isParted ? form.only(experiences, (step) => step < taken) : experiences

    const model = this.model.branch('retold')
    const isDistilled = context === 'distilled'
    const retried = afterwards(form.retold(second, isDistilled ? asTold : asGuided, model))
    if (isDistilled && advice.guidance !== undefined) await rescore(model, retried)
    const metrics = retryMetrics(first, second, advice.pivot, world)
    for (const one of retried) {
      one.reward = this.worth(second)
      one.eid.run = this.task.repeatTimes + this.context.run
      one.metrics = { ...metrics }
    }
    const imitated = this.#isVerified(first, second)
      ? [
          ...this.#imitated('reflect', experience),
          ...this.#imitated('retry', ...afterwards(form.retold(second, asGuided, this.model.branch('imitated')))),
        ]
      : []
    return [...(credit === 'inverted' ? before : afterwards)(base), ...this.grouped(retried), ...imitated]
  }

  /** The retry shows that the reflection was right. */
  #isVerified({ episode: first }: Rollout, { episode: second }: Rollout): boolean {
    const { imitate } = this.args
    const isBetter = second.score > first.score
    if (imitate !== 'solved') return imitate === 'better' && isBetter
    const isShorter = this.study.world.unit === 'steps' && second.turn.step < first.turn.step
    return second.won && (isBetter || isShorter)
  }

  /** Learned as an example, in a group of its own. */
  #imitated(what: string, ...said: readonly (Experience | undefined)[]): Experience[] {
    if (this.args.imitate === 'never') return []
    const { task, context } = this
    return said
      .filter((one) => one !== undefined)
      .map((one) => {
        const eid = { ...one.eid, task: `${task.taskId ?? 0}_${what}_${context.run}` }
        return { ...one, eid, reward: 1, info: { ...one.info, is_expert: true }, metrics: {} }
      })
  }
}

/** R3L: every run is a pair, and pairs are half as many as the task is repeated: both attempts count. */
export abstract class R3lWorkflow extends ReflectRetryWorkflow {
  static override runsOf({ repeatTimes, isEval, workflowArgs }: Task): number {
    const isPaired = !isEval && workflowArgs.reflect_retry !== false
    return isPaired ? Math.max(1, Math.floor(repeatTimes / 2)) : repeatTimes
  }

  protected override grouped(experiences: Experience[]): Experience[] {
    for (const { eid } of experiences) eid.task = `${this.task.taskId ?? 0}_explore`
    return experiences
  }
}

/** Reflect-GRPO: the second half of the runs try again after a failure; all attempts are one group. */
export abstract class ReflectGrpoWorkflow extends ReflectRetryWorkflow {
  protected override isReflected(first: Rollout): boolean {
    return this.context.run >= this.task.repeatTimes / 2 && super.isReflected(first)
  }
}

function reflectionMetrics(unusable: Unusable | undefined, isPerfect: boolean): Metrics {
  return {
    reflection_unusable: unusable ? 1 : 0,
    reflection_perfect: !unusable && isPerfect ? 1 : 0,
    ...(unusable && { [`reflection_unusable/${unusable}:sum`]: 1 }),
  }
}
