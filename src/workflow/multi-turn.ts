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
 * @example
 * import { MultiTurnWorkflow, workflows } from 'trinity-rft'
 *
 * class TwoTries extends MultiTurnWorkflow {
 *   async play() {
 *     const messages = [{ role: 'user', content: 'Guess a digit.' }]
 *     const [first] = await this.model.chat(messages)
 *     if (first.responseText === '7') return 1
 *     messages.push({ role: 'assistant', content: first.responseText ?? '' }, { role: 'user', content: 'No. Again.' })
 *     const [second] = await this.model.chat(messages)
 *     return second.responseText === '7' ? 0.5 : 0
 *   }
 * }
 * workflows.add('two_tries', TwoTries)
 */
export abstract class MultiTurnWorkflow extends Workflow {
  abstract play(): Promise<number | Outcome>

  async run(): Promise<Experience[]> {
    const outcome = await this.play()
    const { reward, info = {} } = typeof outcome === 'number' ? { reward: outcome } : outcome
    const experiences = this.model.toExperiences()
    for (const experience of experiences) {
      // An answer that was cut off has not earned what the conversation earned; where nothing was earned, 0 would be made up.
      experience.reward = experience.truncateStatus === 'response_truncated' && reward !== undefined ? 0 : reward
      Object.assign(experience.info, info)
      for (const [name, value] of Object.entries(info)) if (typeof value === 'number') experience.metrics[name] = value
    }
    return experiences
  }
}
