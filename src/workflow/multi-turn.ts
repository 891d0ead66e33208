import type { Experience } from '../experience/index.js'
import { Workflow } from './workflow.js'

/** How a conversation ended. */
export interface Outcome {
  reward?: number
  /** Facts for the experience; numbers among them are metrics too. */
  info?: Record<string, unknown>
}

/**
 * A conversation of several turns that becomes one experience with a mask over what the model said. A subclass plays it:
 * it calls `this.model.chat` as often as it likes, always with the whole list of messages, and returns the reward.
 */
export abstract class MultiTurnWorkflow extends Workflow {
  abstract play(): Promise<number | Outcome>

  async run(): Promise<Experience[]> {
    const outcome = await this.play()
    const { reward, info = {} } = typeof outcome === 'number' ? { reward: outcome } : outcome
    const experiences = this.model.toExperiences()
    for (const experience of experiences) {
      // An answer that was cut off has not earned what the conversation earned.
      experience.reward = experience.truncateStatus === 'response_truncated' ? 0 : reward
      Object.assign(experience.info, info)
      for (const [name, value] of Object.entries(info)) if (typeof value === 'number') experience.metrics[name] = value
    }
    return experiences
  }
}
