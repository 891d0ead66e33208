import { z } from 'zod'
import { extractAnswer } from '../../reward/index.js'
import { environment } from '../environment.js'
import { AnswerWorld, ATTEMPTS, badFormat, replyArgs } from './answer-world.js'
import { finalAnswer, mathQuestion } from './question.js'

const SYSTEM = 'Reason step by step and write the final answer in \\boxed{}.'

export const qwenMath = environment({
  doc: 'a problem of mathematics, answered in \\boxed{}; a wrong answer is said to be wrong',
  args: z.strictObject(replyArgs),
  maxSteps: ATTEMPTS,
  create: () => new AnswerWorld(mathQuestion),
  persona: ({ strict, end_on_bad_format }) => ({
    system: () => SYSTEM,
    prompt: ({ step, goal, observation }) => (step === 0 ? (goal ?? '') : observation),
    action: (reply) =>
      extractAnswer(reply, 'boxed') ??
      (strict
        ? badFormat('Your reply has no answer in \\boxed{}, so it cannot be judged. Put it there.', end_on_bad_format)
        : finalAnswer(reply)),
  }),
})
