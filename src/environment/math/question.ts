import { extractAnswer, gradeMath } from '../../reward/index.js'
import type { EpisodeSpec } from '../environment.js'
import type { Question } from './answer-world.js'
import { readProblem } from './problem.js'

/** A problem whose answer is compared as mathematics. */
export function mathQuestion(episode: EpisodeSpec): Question {
  const { question, answer: truth } = readProblem(episode)
  return {
    text: question,
    judge: (answer) =>
      answer !== '' && gradeMath(answer, truth)
        ? undefined
        : `Your answer ${answer} is incorrect. Look for the mistake in your reasoning and try again.`,
  }
}

/** What a text gives as its answer, by the best sign there is. */
export function finalAnswer(text: string): string {
  return extractAnswer(text, 'final') ?? text.trim()
}
