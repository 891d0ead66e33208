import { TrinityError } from '../base/error.js'

/** A question of `trinity init`, and what each of its answers stands for; the first is the default. */
export interface Question {
  readonly text: string
  readonly answers: Readonly<Record<string, string>>
}

/** The name of each is its option as well: `--have agent`. */
export const QUESTIONS = {
  have: {
    text: 'What do you have?',
    answers: {
      nothing: 'nothing yet: start with a small model that learns sums',
      agent: 'an agent, written with an SDK',
      data: 'questions with answers',
    },
  },
  sdk: {
    text: 'Which SDK?',
    answers: {
      openai: 'OpenAI',
      'ai-sdk': 'AI SDK (Vercel)',
      'openai-agents': 'OpenAI Agents',
      anthropic: 'Anthropic',
      langgraph: 'LangGraph',
      mastra: 'Mastra',
      none: 'none: call the model directly',
    },
  },
  where: {
    text: 'Where will you train?',
    answers: {
      cpu: "this machine's processor",
      gpu: 'an NVIDIA GPU',
    },
  },
} as const satisfies Record<string, Question>

type AnswerOf<Q extends keyof typeof QUESTIONS> = keyof (typeof QUESTIONS)[Q]['answers']

/** What a project is made from. */
export interface Answers {
  readonly have: AnswerOf<'have'>
  readonly sdk: AnswerOf<'sdk'>
  readonly where: AnswerOf<'where'>
  /** Directory or id on a hub; undefined: the small one that comes with the project. */
  readonly model?: string
  /** File with questions and answers; undefined: the sums that come with the project. */
  readonly data?: string
  /** Its columns, where they were named. */
  readonly promptKey?: string
  readonly responseKey?: string
}

/** An answer as somebody gave it, by its name or the beginning of it. */
export function answerTo<Q extends keyof typeof QUESTIONS>(question: Q, given: string): AnswerOf<Q> {
  const names = Object.keys(QUESTIONS[question].answers)
  const meant = names.includes(given) ? [given] : names.filter((name) => given !== '' && name.startsWith(given))
  if (meant.length === 1) return meant[0] as AnswerOf<Q>
  throw new TrinityError('init/answer', `--${question} cannot be '${given}'`, {
    path: `--${question}`,
    hint: `choose one of ${names.join(', ')}`,
  })
}

/** The first of its answers. */
export function defaultAnswer<Q extends keyof typeof QUESTIONS>(question: Q): AnswerOf<Q> {
  return Object.keys(QUESTIONS[question].answers)[0] as AnswerOf<Q>
}
