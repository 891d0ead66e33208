import type { Experience } from '../../experience/index.js'
import type { ChatMessage } from '../../model/index.js'
import { stepFacts } from '../environment/step-facts.js'
import type { RolloutModel } from '../rollout-model.js'
import type { Rollout } from './rollout.js'

/** What a rollout becomes: one experience of the whole conversation, or one of each step. */
export interface Form {
  /** As it was said. Where not even the first prompt fitted, the stand-in for an answer. */
  asSaid(rollout: Rollout): Experience[]
  /** As if other messages had been there at each step; `model` is a fresh branch. */
  retold(rollout: Rollout, messagesAt: (step: number) => ChatMessage[], model: RolloutModel): Experience[]
  /** Leaves steps out of what is learned. */
  only(experiences: readonly Experience[], isLearned: (step: number) => boolean): Experience[]
}

export const conversation: Form = {
  asSaid: ({ model }) => model.toExperiences(),
  retold({ answers }, messagesAt, model) {
    for (const [step, answer] of answers.entries()) model.retell(messagesAt(step), answer)
    return model.toExperiences()
  },
  only(experiences, isLearned) {
    let step = -1
    return experiences.flatMap((experience) => {
      // Between two turns there is always a word of the user, so that every stretch of the mask is one.
      const actionMask = experience.actionMask.map((written, i, mask) => {
        if (written && !mask[i - 1]) step++
        return written && isLearned(step) ? 1 : 0
      })
      return actionMask.includes(1) ? [{ ...experience, actionMask }] : []
    })
  },
}

export const steps: Form = {
  asSaid: (rollout) =>
    rollout.answers.length === 0
      ? rollout.model.toExperiences()
      : numbered(
          rollout,
          rollout.answers.map(({ experience }) => experience),
        ),
  retold: (rollout, messagesAt, model) =>
    numbered(
      rollout,
      rollout.answers.map((answer, step) => model.retell(messagesAt(step), answer)),
    ),
  only: (experiences, isLearned) => experiences.filter(({ eid }) => isLearned(eid.step)),
}

/** Each with its number and with what happened in the world. */
function numbered({ episode: { turn } }: Rollout, experiences: readonly Experience[]): Experience[] {
  const written = experiences.map(({ tokens, promptLength }) => tokens.length - promptLength)
  return experiences.map((experience, step) => {
    const past = turn.past[step]
    experience.eid.step = step
    Object.assign(experience.info, stepFacts(past), { step_reward: past.transition.reward })
    Object.assign(experience.metrics, {
      ...past.transition.metrics,
      prompt_tokens: experience.promptLength,
      response_tokens: written[step],
      ...(step === written.length - 1 && { trajectory_response_tokens: written.reduce((sum, one) => sum + one, 0) }),
    })
    return experience
  })
}

/** Their log-probs as the weights in use have them, for tokens that were sampled after another prompt. */
export async function rescore(model: RolloutModel, experiences: readonly Experience[]): Promise<void> {
  for (const experience of experiences) {
    const { tokens, promptLength, temperature, actionMask } = experience
    const scored = await model.logprobs(tokens, { temperature })
    experience.logprobs = scored.slice(promptLength - 1).map((logprob, i) => (actionMask[i] ? logprob : 0))
    delete experience.drawnLogprobs
  }
}
