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
import { stepFacts } from './step-facts.js'

/** What step-wise workflows want: `history` is how many earlier turns the model sees, null for all. */
export interface StepWisePlan extends EnvironmentPlan {
  readonly history: number | null
  /** `step`: each step has its own. `final`: what the episode was worth, at every step. */
  readonly reward: 'step' | 'final'
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
    Object.assign(answer.info, stepFacts({ observation: episode.turn.observation, prompt: episode.prompt }))
    this.earned = 0
    // Nothing was said, so nothing happens; the next prompt would be the same.
    if (answer.truncateStatus === 'prompt_truncated') return false
    const { reward, metrics } = await episode.reply(answer.responseText ?? '')
    this.earned = reward
    this.score = episode.score
    answer.info.step_reward = reward
    Object.assign(answer.metrics, metrics)
    logger.debug(`step ${step}: ${episode.turn.past.at(-1)?.action ?? 'no action'}, ${reward}`)
    return !episode.over
  }
}

/** Each step with what it earned. */
class RewardedSteps extends StepWiseRewardWorkflow {
  readonly #steps: Steps

  constructor(context: WorkflowContext, steps: Steps) {
    super(context)
    this.#steps = steps
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
}

/** Every step with what the episode was worth, known at its end. */
class PropagatedSteps extends RewardPropagationWorkflow {
  readonly #steps: Steps

  constructor(context: WorkflowContext, steps: Steps) {
    super(context)
    this.#steps = steps
  }

  override get maxSteps(): number {
    return this.#steps.run.maxSteps
  }

  override step(step: number): Promise<boolean> {
    return this.#steps.take(step)
  }

  override reward(): number {
    return this.#steps.score
  }
}

/** An episode, one experience per step. A subclass may say which environment (`plan`). */
export class StepWiseEnvironmentWorkflow extends Workflow {
  static override readonly doc: string = 'an episode in an environment, one experience per step'
  static override readonly args: z.ZodObject = stepWiseEnvironmentArgs
  readonly #steps: Steps
  readonly #kind: Workflow

  constructor(context: WorkflowContext) {
    super(context)
    const plan = this.plan()
    this.#steps = new Steps(context, plan)
    const Kind = plan.reward === 'final' ? PropagatedSteps : RewardedSteps
    this.#kind = new Kind(context, this.#steps)
  }

  protected plan(): StepWisePlan {
    return workflowArgs(this.task, stepWiseEnvironmentArgs)
  }

  /** The one episode of this run. */
  protected episode(): Promise<Episode> {
    return this.#steps.run.episode()
  }

  /** Numbers about the whole episode, for each of its experiences. */
  protected metrics(episode: Episode): Metrics {
    return episodeMetrics(episode)
  }

  override async run(): Promise<Experience[]> {
    const all = await this.#kind.run()
    const metrics = this.metrics(await this.episode())
    for (const experience of all) Object.assign(experience.metrics, metrics)
    return all
  }

  override async close(): Promise<void> {
    await this.#steps.run.close()
  }
}
