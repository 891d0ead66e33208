/** What a world of the study adds to the method: how its tasks are called in prompts, and what is counted in it. */
export interface StudyWorld {
  /** As the names of workflows have it. */
  readonly name: string
  readonly environment: string
  /** What an episode consists of: steps in a world, or attempts at one question. */
  readonly unit: 'steps' | 'attempts'
  /** What the tasks are, behind "works on". */
  readonly tasks: string
  /** Mistakes that a critique looks for. */
  readonly mistakes: readonly string[]
  /** Where a retry begins: at the step that reflection names, or at the beginning. */
  readonly retry: 'pivot' | 'start'
  /** What RAFT keeps: what reached the goal, or whatever earned something. */
  readonly keep: 'won' | 'rewarded'
  /** Arguments of the world that are different where every step is an experience. */
  readonly steps?: Readonly<Record<string, unknown>>
}

const ACTING = { unit: 'steps', retry: 'pivot', keep: 'won' } as const
/** An attempt is a whole answer: there is no state in the middle to go back to. */
const ANSWERING = { unit: 'attempts', retry: 'start', keep: 'won' } as const
const MATHEMATICS = [
  'a wrong idea or formula',
  'a slip in arithmetic or algebra',
  'a condition of the problem that was overlooked',
  'an answer in the wrong form',
]

export const STUDY_WORLDS = {
  alfworld: {
    ...ACTING,
    name: 'alfworld',
    environment: 'alfworld',
    tasks: 'housework in a world of text (ALFWorld)',
    mistakes: [
      'looking in unlikely places, or in the same place again',
      'an action that was not possible, or names without their numbers',
      'a sub-goal that was forgotten or done too early',
      'a reply without the right form',
    ],
  },
  webshop: {
    ...ACTING,
    name: 'webshop',
    environment: 'webshop',
    tasks: 'shopping by instruction in a web store of text (WebShop)',
    mistakes: [
      'search words that are too narrow or too wide',
      'a product that does not fit the instruction, or costs too much',
      'options that were not chosen before buying',
      'no purchase within the steps, or an action that the page does not have',
    ],
    steps: { unfinished_reward: -0.1, end_on_invalid: true },
  },
  scienceworld: {
    ...ACTING,
    name: 'scienceworld',
    environment: 'scienceworld',
    tasks: 'experiments of elementary science in a world of text (ScienceWorld)',
    mistakes: [
      'a plan that misses a part of the task',
      'the wrong object in focus, or focus too early',
      'an action that the world does not know, or that has no effect',
      'steps spent in the wrong room, or waiting for nothing',
    ],
    keep: 'rewarded',
  },
  dapo: {
    ...ANSWERING,
    name: 'dapo',
    environment: 'dapo_math',
    tasks: 'problems of mathematics, several attempts each',
    mistakes: MATHEMATICS,
    steps: { end_on_bad_format: true },
  },
  qwen_math: {
    ...ANSWERING,
    name: 'qwen_math',
    environment: 'qwen_math',
    tasks: 'problems of mathematics, several attempts each',
    mistakes: MATHEMATICS,
  },
  countdown: {
    ...ANSWERING,
    name: 'countdown',
    environment: 'countdown',
    tasks: 'CountDown puzzles (reach a target with given numbers), several attempts each',
    mistakes: [
      'a number that is missing, used twice or not given',
      'an expression with another value than the target',
      'signs that are not + - * / or brackets',
      'a reply without the right form',
    ],
  },
} as const satisfies Readonly<Record<string, StudyWorld>>

/** A world of which nothing is known but its name. */
export function anyWorld(environment: string): StudyWorld {
  return {
    ...ACTING,
    name: environment,
    environment,
    tasks: `tasks in the world '${environment}'`,
    mistakes: ['a wrong plan', 'an action that was not possible or had no effect', 'a reply without the right form'],
  }
}
