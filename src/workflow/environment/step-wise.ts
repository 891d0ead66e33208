import type { z } from 'zod'
import type { Episode } from '../../environment/index.js'
import type { Experience } from '../../experience/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import type { WorkflowContext } from '../context.js'
import { RewardPropagationWorkflow, StepWiseRewardWorkflow } from '../step-wise.js'
import { Workflow } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'
import { stepWiseEnvironmentArgs } from './args.js'
import { type EnvironmentPlan, EnvironmentRun, episodeMetrics } from './run.js'

/** What step-wise workflows want: `history` is how many earlier turns the model sees, null for all. */
export interface StepWisePlan extends EnvironmentPlan {
  readonly history: number | null
}

/** Steps of an episode, each asked on its own. */
class Steps {
  readonly run: EnvironmentRun
  /** What the last step earned. */
  earned = 0
  /** What the episode is worth. */
  score = 0
  readonly #context: WorkflowContext
  readonly #history: number

  constructor(context: WorkflowContext, plan: StepWisePlan) {
    this.run = new EnvironmentRun(context, plan)
    this.#context = context
    this.#history = plan.history ?? Number.POSITIVE_INFINITY
  }

  /** False: the episode is over. */
  async take(step: number): Promise<boolean> {
    const { model, logger } = this.#context
    const episode = await this.run.episode()
    const [answer] = await model.chat(episode.messages(this.#history))
    answer.info.env_state = episode.turn.observation
    this.earned = 0
    // Nothing was said, so nothing happens; the next prompt would be the same.
    if (answer.truncateStatus === 'prompt_truncated') return false
    const { reward, metrics } = await episode.reply(answer.responseText ?? '')
    this.earned = reward
    this.score = episode.score
    Object.assign(answer.metrics, metrics)
    logger.debug(`step ${step}: ${episode.turn.past.at(-1)?.action ?? 'no action'}, ${reward}`)
    return !episode.over
  }
}

/** An episode whose steps have rewards of their own. A subclass may say which environment (`plan`). */
export class RewardedStepsWorkflow extends StepWiseRewardWorkflow {
  readonly #steps = new Steps(this.context, this.plan())

  protected plan(): StepWisePlan {
    return workflowArgs(this.task, stepWiseEnvironmentArgs)
  }

  /** Numbers about the whole episode, for each of its experiences. */
  protected metrics(episode: Episode): Metrics {
    return episodeMetrics(episode)
  }

  override get maxSteps(): number {
    return this.#steps.run.maxSteps
  }

  override step(step: number): Promise<boolean> {
    return this.#steps.take(step)
  }

  override reward(): number {
    return this.#steps.earned
  }

  override async run(): Promise<Experience[]> {
    const all = await super.run()
    const metrics = this.metrics(await this.#steps.run.episode())
    for (const experience of all) Object.assign(experience.metrics, metrics)
    return all
  }

  override async close(): Promise<void> {
    await this.#steps.run.close()
  }
}

/** An episode whose worth is known at its end; every step gets it. */
class PropagatedStepsWorkflow extends RewardPropagationWorkflow {
  readonly #steps = new Steps(this.context, workflowArgs(this.task, stepWiseEnvironmentArgs))

  override get maxSteps(): number {
    return this.#steps.run.maxSteps
  }

  override step(step: number): Promise<boolean> {
    return this.#steps.take(step)
  }

  override reward(): number {
    return this.#steps.score
  }

  override async run(): Promise<Experience[]> {
    const all = await super.run()
    const metrics = episodeMetrics(await this.#steps.run.episode())
    for (const experience of all) Object.assign(experience.metrics, metrics)
    return all
  }

  override async close(): Promise<void> {
    await this.#steps.run.close()
  }
}

/** An episode in any environment, one experience per step; `reward` says which of the two it is. */
export class StepWiseEnvironmentWorkflow extends Workflow {
  static override readonly doc: string = 'an episode in an environment, one experience per step'
  static override readonly args: z.ZodObject = stepWiseEnvironmentArgs
  readonly #kind: Workflow

  constructor(context: WorkflowContext) {
    super(context)
    const { reward } = workflowArgs(this.task, stepWiseEnvironmentArgs)
    this.#kind = reward === 'final' ? new PropagatedStepsWorkflow(context) : new RewardedStepsWorkflow(context)
  }

  override run(): Promise<Experience[]> {
    return this.#kind.run()
  }

  override close(): Promise<void> {
    return this.#kind.close()
  }
}
