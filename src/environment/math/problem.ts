import { TrinityError } from '../../base/error.js'
import { truthText } from '../../reward/index.js'
import type { DataRow } from '../../task/index.js'
import type { EpisodeSpec } from '../environment.js'

/** A problem of mathematics, however its data set calls the columns. */
export interface MathProblem {
  readonly question: string
  readonly answer: string
}

/** What a data set may call them, in the order in which they are looked for. */
const QUESTIONS = ['prompt', 'question', 'problem']
const ANSWERS = ['answer', 'final_answer', 'target', 'solution']

/**
 * What the task set's format names; else a chat in `prompt` with `reward_model.ground_truth`, or `question` and `answer`, or
 * `prompt` and `answer`, or other names that are in use.
 */
export function readProblem({ row, text, truth }: Pick<EpisodeSpec, 'row' | 'text' | 'truth'>): MathProblem {
  const question = first([text, ...QUESTIONS.map((key) => row[key])], questionOf)
  const answer = first([truth, groundTruth(row), ...ANSWERS.map((key) => row[key])], answerOf)
  if (question === undefined) throw missing('question', row)
  if (answer === undefined) throw missing('right answer', row)
  return { question, answer }
}

function first(values: readonly unknown[], read: (value: unknown) => string | undefined): string | undefined {
  for (const value of values) {
    const found = read(value)
    if (found !== undefined && found !== '') return found
  }
  return undefined
}

/** Text, or the content of the first message of a chat that is not the system's. */
function questionOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim()
  if (!Array.isArray(value)) return undefined
  const messages = value.filter((one): one is { role?: unknown; content: string } => typeof one?.content === 'string')
  return (messages.find(({ role }) => role !== 'system') ?? messages[0])?.content.trim()
}

/** A list holds one answer or several that are all wanted; a worked solution ends with it. */
function answerOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(answerOf).join(', ')
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return undefined
  return truthText({ response: '', truth: value })
}

function groundTruth(row: DataRow): unknown {
  const truth = (row.reward_model as { ground_truth?: unknown } | null | undefined)?.ground_truth
  if (truth === null || typeof truth !== 'object' || Array.isArray(truth)) return truth
  const { target, answer } = truth as { target?: unknown; answer?: unknown }
  return target ?? answer
}

function missing(what: string, row: DataRow): TrinityError {
  return new TrinityError('environment/row', `the row has no ${what}: its columns are ${Object.keys(row).join(', ')}`, {
    hint: 'name the columns with format.prompt_key and format.response_key of the task set',
  })
}
