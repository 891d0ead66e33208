import { z } from 'zod'
import { extractAnswer, gradeMath } from '../../reward/index.js'
import { type EpisodeSpec, environment } from '../environment.js'
import { AnswerWorld, ATTEMPTS, badFormat, type Question, replyArgs } from './answer-world.js'
import { readProblem } from './problem.js'
import { readTags } from './tags.js'

const SYSTEM = `You solve problems of mathematics step by step. Write your reasoning between <think> and </think>, then the final answer between <answer> and </answer>. A reply needs both.

An example:
Problem: What is the sum of all positive multiples of 3 below 100?
<think>They are 3, 6, 9, ..., 99. That is 3 times the numbers from 1 to 33, and these add up to 33 * 34 / 2 = 561. So the sum is 3 * 561 = 1683.</think>
<answer>\\boxed{1683}</answer>`

const REMINDER = 'Remember: first <think> your reasoning </think>, then <answer> the final answer </answer>.'

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

const args = z.strictObject(replyArgs)

export const dapoMath = environment({
  doc: 'a problem of mathematics, answered in <think> and <answer>; a wrong answer is said to be wrong',
  args,
  maxSteps: ATTEMPTS,
  create: () => new AnswerWorld(mathQuestion),
  persona: ({ strict, end_on_bad_format }) => ({
    system: () => SYSTEM,
    prompt: ({ step, goal, observation }) => `${step === 0 ? goal : observation}\n\n${REMINDER}`,
    action: (reply) => {
      const { thinks, answer } = readTags(reply)
      if (answer !== undefined && (thinks || !strict)) return finalAnswer(answer)
      if (!strict) return finalAnswer(reply)
      const lacks = answer === undefined ? 'has no answer between <answer> and </answer>' : 'does not <think>'
      return badFormat(`Your reply ${lacks}, so it cannot be judged.`, end_on_bad_format)
    },
  }),
})
