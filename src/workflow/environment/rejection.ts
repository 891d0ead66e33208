import type { Episode } from '../../environment/index.js'
import { createExperience, type Experience } from '../../experience/index.js'
import { EnvironmentWorkflow } from './concatenated.js'

/**
 * Rejection sampling: an episode counts when it reached the goal and every reply had the right form. Of others, an
 * experience without gradient is left, so that their group stays complete.
 */
export class RejectionWorkflow extends EnvironmentWorkflow {
  override async run(): Promise<Experience[]> {
    const experiences = await super.run()
    if (this.task.isEval) return experiences
    return isGood(await this.episode()) ? experiences.map(kept) : experiences.slice(0, 1).map(blank)
  }
}

/** It reached the goal, and every reply had the right form. */
export function isGood(episode: Episode): boolean {
  return episode.won && episode.invalid === 0
}

/** Marks an experience as selected, so that the advantage stage of RAFT does not rank it again. */
export const kept = (experience: Experience): Experience => ({
  ...experience,
  info: { ...experience.info, is_kept: true },
})

/** Nothing of it is learned; what is known about it stays. */
export function blank({ eid, tokens, temperature, modelVersion, reward, info, metrics }: Experience): Experience {
  return createExperience({
    type: 'single_turn',
    eid,
    tokens: tokens.slice(0, 2),
    promptLength: 1,
    logprobs: [0],
    actionMask: [0],
    temperature,
    modelVersion,
    reward,
    info: { ...info, is_kept: false },
    metrics,
  })
}
