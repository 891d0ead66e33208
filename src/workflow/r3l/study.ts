import type { Experience } from '../../experience/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import { converse } from '../environment/converse.js'
import { type EnvironmentPlan, EnvironmentRun } from '../environment/run.js'
import type { RolloutModel } from '../rollout-model.js'
import { Workflow } from '../workflow.js'
import type { Form } from './form.js'
import { guided } from './guidance.js'
import { type Rollout, rolloutMetrics } from './rollout.js'
import type { StudyWorld } from './study-world.js'

/** In which world, in which form, and with which arguments. */
export interface Study {
  readonly world: StudyWorld
  readonly form: Form
  readonly plan: EnvironmentPlan
  readonly args: Readonly<Record<string, unknown>>
}

/** How a rollout differs from playing from the beginning. */
export interface Beginning {
  /** Takes over so many steps of this one. */
  readonly from?: { readonly rollout: Rollout; readonly steps: number }
  /** What the model is told besides. */
  readonly guidance?: string
}

/** An episode of a world: what all workflows of the study begin with, and all that its baselines need. */
export abstract class StudyWorkflow extends Workflow {
  #study: Study | undefined
  #run: EnvironmentRun | undefined

  protected get study(): Study {
    this.#study ??= this.makeStudy()
    return this.#study
  }

  /** What the name of the workflow and the arguments of the task say. */
  protected abstract makeStudy(): Study

  override async run(): Promise<Experience[]> {
    return this.learned(await this.play(this.model))
  }

  override async close(): Promise<void> {
    await this.#run?.close()
  }

  /** One rollout; a world plays one at a time. */
  protected async play(model: RolloutModel, { from, guidance }: Beginning = {}): Promise<Rollout> {
    this.#run ??= new EnvironmentRun(this.context, this.study.plan)
    const episode = await this.#run.again()
    const taken = from?.steps ?? 0
    if (from) await episode.repeat(from.rollout.episode.turn.past, taken)
    const messages = () => {
      const own = episode.messages()
      return guidance === undefined ? own : guided(own, guidance, taken)
    }
    const answers = await converse(model, episode, { messages })
    return { episode, model, answers: [...(from?.rollout.answers.slice(0, taken) ?? []), ...answers] }
  }

  /** What is learned of a rollout, with its reward and its numbers. */
  protected learned(rollout: Rollout): Experience[] {
    const experiences = this.study.form.asSaid(rollout)
    const [reward, metrics] = [this.worth(rollout), this.metrics(rollout)]
    for (const experience of experiences) {
      experience.reward = reward
      Object.assign(experience.metrics, metrics)
    }
    return experiences
  }

  protected worth({ episode }: Rollout): number {
    return episode.score
  }

  protected metrics(rollout: Rollout): Metrics {
    return rolloutMetrics(rollout, this.study.world)
  }
}
