import { z } from 'zod'
import { environment } from '../environment.js'
import { AnswerWorld, ATTEMPTS, replyArgs } from './answer-world.js'
import { finalAnswer, mathQuestion } from './question.js'
import { taggedAnswer } from './tags.js'

const SYSTEM = `You solve problems of mathematics step by step. Write your reasoning between <think> and </think>, then the final answer between <answer> and </answer>. A reply needs both.

An example:
Problem: What is the sum of all positive multiples of 3 below 100?
<think>They are 3, 6, 9, ..., 99. That is 3 times the numbers from 1 to 33, and these add up to 33 * 34 / 2 = 561. So the sum is 3 * 561 = 1683.</think>
<answer>\\boxed{1683}</answer>`

const REMINDER = 'Remember: first <think> your reasoning </think>, then <answer> the final answer </answer>.'

export const dapoMath = environment({
  doc: 'a problem of mathematics, answered in <think> and <answer>; a wrong answer is said to be wrong',
  args: z.strictObject(replyArgs),
  maxSteps: ATTEMPTS,
  create: () => new AnswerWorld(mathQuestion),
  persona: (args) => ({
    system: () => SYSTEM,
    prompt: ({ step, goal, observation }) => `${step === 0 ? goal : observation}\n\n${REMINDER}`,
    action: (reply) => {
      const said = taggedAnswer(reply, args)
      return typeof said === 'string' ? finalAnswer(said) : said
    },
  }),
})
