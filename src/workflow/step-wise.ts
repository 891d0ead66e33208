import type { Experience } from '../experience/index.js'
import type { WorkflowContext } from './context.js'
import { Workflow } from './workflow.js'

/** Steps in an environment; every call of the model is an experience of its own, numbered by step. */
abstract class StepWorkflow extends Workflow {
  constructor(context: WorkflowContext) {
    super(context)
    context.model.recordHistory()
  }

  /** One step, from 0 on. False: the episode is over. */
  abstract step(step: number): Promise<boolean>

  abstract get maxSteps(): number

  protected async walk(after: (experiences: Experience[], step: number) => Promise<void> | void): Promise<number> {
    let step = 0
    for (let goesOn = true; goesOn && step < this.maxSteps; step++) {
      goesOn = await this.step(step)
      const experiences = this.model.takeHistory()
      for (const experience of experiences) experience.eid.step = step
      await after(experiences, step)
    }
    return step
  }
}

/** Rewards every step by itself. A subclass writes `step`, `reward` and `maxSteps`. */
export abstract class StepWiseRewardWorkflow extends StepWorkflow {
  /** What the step was worth that gave these experiences. */
  abstract reward(experiences: readonly Experience[], step: number): number | Promise<number>

  async run(): Promise<Experience[]> {
    const all: Experience[] = []
    const steps = await this.walk(async (experiences, step) => {
      if (experiences.length === 0) return
      const reward = await this.reward(experiences, step)
      for (const experience of experiences) experience.reward = reward
      all.push(...experiences)
    })
    for (const experience of all) experience.metrics.actual_env_steps = steps
    return all
  }
}

/** Rewards the whole episode at its end; every step gets that reward. */
export abstract class RewardPropagationWorkflow extends StepWorkflow {
  abstract reward(experiences: readonly Experience[]): number | Promise<number>

  async run(): Promise<Experience[]> {
    const all: Experience[] = []
    const steps = await this.walk((experiences) => void all.push(...experiences))
    if (all.length === 0) return all
    const reward = await this.reward(all)
    for (const experience of all) {
      experience.reward = reward
      experience.metrics.actual_env_steps = steps
    }
    return all
  }
}
