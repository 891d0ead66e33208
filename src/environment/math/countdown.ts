import { z } from 'zod'
import { type CountdownPuzzle, countdownFault, countdownPuzzle } from '../../reward/index.js'
import { toNumber } from '../../reward/math/rational.js'
import { type EpisodeSpec, environment, type Persona, type Turn } from '../environment.js'
import { promptStyle } from '../small-world.js'
import { AnswerWorld, ATTEMPTS, type Question, replyArgs } from './answer-world.js'
import { readTags, taggedAnswer } from './tags.js'

const args = z.strictObject({ ...replyArgs, prompt: promptStyle })
type Args = z.output<typeof args>

/** Earlier attempts that a prompt lists. */
const LISTED = 4

const FAULTS = {
  expression: 'is not an expression of numbers, + - * / and brackets alone.',
  numbers: 'does not use every given number exactly once.',
  value: 'does not make the target.',
}

const FORM =
  'Now it is your turn: first <think> your reasoning </think>, then <answer> the expression </answer>, as in <answer> (1 + 2) / 3 </answer>.'

/** `nums` and `target`; else the truth, which is in `reward_model.ground_truth` or `answer` of other sets. */
function puzzleOf({ row, truth }: EpisodeSpec): CountdownPuzzle {
  if (row.target !== undefined && (row.nums ?? row.numbers) !== undefined) return countdownPuzzle(row)
  return countdownPuzzle(truth ?? (row.reward_model as { ground_truth?: unknown })?.ground_truth ?? row.answer ?? row)
}

function question(episode: EpisodeSpec, style: Args['prompt']): Question {
  const puzzle = puzzleOf(episode)
  const [target, ...nums] = [puzzle.target, ...puzzle.numbers].map(toNumber)
  return {
    text:
      style === 'brief'
        ? `Make ${target} from ${nums.join(', ')}`
        : `Use the numbers [${nums.join(', ')}] to make ${target}. You may add, subtract, multiply and divide (+ - * /) and set brackets; every number must be used exactly once.`,
    judge: (answer) => {
      const fault = countdownFault(answer, puzzle)
      return fault && `${answer} ${FAULTS[fault]}`
    },
  }
}

const full = (args: Args): Persona => ({
  prompt: (turn) => {
    const feedback = turn.step === 0 ? [] : [`Feedback: ${turn.observation}`]
    return [...feedback, turn.goal, ...attemptsOf(turn), FORM].join('\n\n')
  },
  action: (reply) => taggedAnswer(reply, args),
})

function attemptsOf({ step, maxSteps, past }: Turn): string[] {
  if (step === 0) return []
  const lines = past
    .map(({ transition }, at) => `${at + 1}. ${transition.observation}`)
    .slice(-LISTED)
    .join('\n')
  return [`Earlier attempts:\n${lines}`, `This is attempt ${step + 1} of ${maxSteps}.`]
}

/** For small models that learn the rules by training: the puzzle alone, and again after a wrong answer. */
const BRIEF: Persona = {
  prompt: ({ goal }) => goal ?? '',
  action: (reply) => readTags(reply).answer ?? reply,
}

export const countdown = environment({
  doc: 'numbers to reach a target with; a wrong expression is said to be wrong',
  args,
  maxSteps: ATTEMPTS,
  create: ({ prompt }) => new AnswerWorld((episode) => question(episode, prompt)),
  persona: (given) => (given.prompt === 'brief' ? BRIEF : full(given)),
})
