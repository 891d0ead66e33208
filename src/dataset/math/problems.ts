import { TrinityError } from '../../base/error.js'
import { type MathProblem, readProblem } from '../../environment/index.js'
import type { DataRow } from '../../task/index.js'
import { type Given, rowsOf } from '../given.js'
import type { Place } from '../place.js'

/** Words around a problem that belong to somebody's prompt, not to the problem. */
const WRAPPERS = [
  /^Solve the following math problem step by step\..*?\n\n/s,
  /\n\nRemember to put your answer on its own line after "Answer:"\.?\s*$/,
  /\s*Let's think step by step and output the final answer within \\boxed\{\}\.?\s*$/,
]

/** A question without the prompt that a data set has put around it. */
export function plainQuestion(text: string): string {
  return WRAPPERS.reduce((rest, wrapper) => rest.replace(wrapper, ''), text).trim()
}

/** Problems as `question` and `answer`. Those without a right answer are left out, and their number is told. */
export async function* problemsOf(data: string, given: Given, place: Place): AsyncIterable<MathProblem & DataRow> {
  let without = 0
  for await (const row of rowsOf(data, given)) {
    try {
      const { question, answer } = readProblem({ row })
      yield { question: plainQuestion(question), answer, ...more(row) }
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'environment/row') throw error
      without++
    }
  }
  if (without > 0)
    place.logger?.info(`${given.path}: ${without} rows without a question or a right answer are left out`)
}

const KEPT = ['level', 'type', 'subject', 'solution']

/** What else is worth keeping of a row: text and numbers. */
function more(row: DataRow): DataRow {
  const kept = KEPT.filter((key) => ['string', 'number'].includes(typeof row[key]) && row[key] !== row.answer)
  return Object.fromEntries(kept.map((key) => [key, row[key]]))
}

/** Each question once. */
export async function* distinct<T extends MathProblem>(problems: AsyncIterable<T>): AsyncIterable<T> {
  const seen = new Set<string>()
  for await (const problem of problems) {
    if (seen.has(problem.question)) continue
    seen.add(problem.question)
    yield problem
  }
}
