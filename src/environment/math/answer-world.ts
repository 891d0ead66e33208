import { z } from 'zod'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'

/** A question that is answered at once, and asked again where the answer was wrong. */
export interface Question {
  /** All that has to be known. */
  readonly text: string
  /** What to say to a wrong answer; undefined: it is right. */
  judge(answer: string): string | undefined
}

/** Attempts of an episode in the study. */
export const ATTEMPTS = 3

/** Arguments of all worlds of this kind. */
export const replyArgs = {
  strict: z
    .boolean()
    .default(true)
    .describe('false: a reply without the form that was asked for is judged by whatever it gives as its answer'),
  end_on_bad_format: z.boolean().default(false).describe('true: a reply without the form ends the episode'),
}

export type ReplyArgs = z.output<z.ZodObject<typeof replyArgs>>

/** Asks one question until it is answered or the steps are used up: 1 for a right answer, 0 for others. */
export class AnswerWorld implements Environment {
  readonly #read: (episode: EpisodeSpec) => Question
  #question: Question | undefined

  constructor(read: (episode: EpisodeSpec) => Question) {
    this.#read = read
  }

  reset(episode: EpisodeSpec): Start {
    this.#question = this.#read(episode)
    return { observation: this.#question.text, goal: this.#question.text }
  }

  step(answer: string): Transition {
    const fault = this.#question?.judge(answer.trim())
    if (fault !== undefined) return { observation: fault, reward: 0, done: false }
    return { observation: 'That is correct.', reward: 1, done: true, won: true }
  }

  snapshot(): unknown {
    return this.#question
  }

  restore(snapshot: unknown): void {
    this.#question = snapshot as Question
  }
}

/** A reply without the form that was asked for: it counts as an attempt. */
export function badFormat(feedback: string, done: boolean): Transition {
  return { observation: feedback, reward: 0, done }
}
