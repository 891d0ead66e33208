import { z } from 'zod'
import { messageOf } from '../../base/error.js'
import { type EmailRubric, emailReward, saysTruth, UNKNOWN } from '../../reward/email-answer.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { jsonDumps } from '../python-text.js'
import { readRow, rowError } from '../row.js'
import type { Mailbox } from './mailbox.js'
import { refusal, WITHOUT_ANSWER } from './persona.js'
import { type Answer, type Asker, readCall, type ToolCall } from './tools.js'

const NAME = 'email_search'

export interface WorldArgs {
  readonly max_turns: number
  readonly tool_obs_char_limit: number
  readonly unknown_is_wrong: boolean
}

const columns = z.object({
  question: z.string().optional(),
  answer: z.string().optional(),
  message_ids: z.array(z.union([z.string(), z.number()]).transform(String)).default([]),
  inbox_address: z.string(),
  query_date: z.union([z.string(), z.date()]),
})

interface Task extends Asker {
  readonly truth: string
  /** The mail that answers the question; absent: nobody knows which. */
  readonly source: string | undefined
}

/** What an episode has seen so far. */
interface State {
  readonly turns: number
  readonly found: boolean
  readonly read: boolean
}

/** A question about a mailbox: searches, mails that are read, and an answer with its sources. */
export class EmailSearch implements Environment {
  readonly #mailbox: Mailbox
  readonly #args: WorldArgs
  /** Set by `reset`, which comes before everything else. */
  #task!: Task
  #state!: State

  constructor(mailbox: Mailbox, args: WorldArgs) {
    this.#mailbox = mailbox
    this.#args = args
  }

  reset({ row, text, truth }: EpisodeSpec): Start {
    const { question, answer, message_ids, inbox_address: inbox, query_date } = readRow(NAME, columns, row)
    const asked = question ?? text
    if (typeof asked !== 'string' || asked === '') throw rowError(NAME, 'question', 'expected a question', asked)
    const right = answer ?? truth
    if (typeof right !== 'string') throw rowError(NAME, 'answer', 'expected the answer', right)
    const date = query_date instanceof Date ? query_date.toISOString().slice(0, 10) : query_date.slice(0, 10)
    if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw rowError(NAME, 'query_date', 'expected YYYY-MM-DD', query_date)
    this.#task = { inbox, date, truth: right, source: message_ids[0] }
    this.#state = { turns: 0, found: false, read: false }
    return { observation: asked, goal: `User's email address is ${inbox}\nToday's date is ${date}` }
  }

  step(action: string): Transition {
    this.#state = { ...this.#state, turns: this.#state.turns + 1 }
    const call = readCall(action, this.#task)
    if ('problem' in call) return refusal(call.problem)
    if (call.name === 'generate_response') return this.#answer(call.arguments)
    const observation = this.#use(call).slice(0, this.#args.tool_obs_char_limit)
    return { observation, reward: 0, done: false, score: WITHOUT_ANSWER, metrics: { valid_action: 1 } }
  }

  /** What a tool says. What goes wrong is said, too. */
  #use(call: Exclude<ToolCall, { name: 'generate_response' }>): string {
    if (call.name === 'search_emails') return this.#search(call.arguments)
    const { message_id } = call.arguments
    const email = this.#mailbox.read(message_id)
    if (email === undefined) return `Error: Email (message_id = ${message_id}) not found.`
    if (message_id === this.#task.source) this.#state = { ...this.#state, read: true }
    return jsonDumps(email)
  }

  #search({ inbox_address, query_date, keywords }: { inbox_address: string; query_date: string; keywords: string[] }) {
    try {
      const found = this.#mailbox.search({ inbox: inbox_address, keywords, before: dayAfter(query_date) })
      if (found.some(({ message_id }) => message_id === this.#task.source))
        this.#state = { ...this.#state, found: true }
      return jsonDumps(found)
    } catch (error) {
      return `Error: Failed to search emails.\nError message: ${messageOf(error)}`
    }
  }

  #answer({ answer, sources }: Answer): Transition {
    const rubric = this.#rubric(answer, sources)
    const { accuracy, format } = emailReward(rubric, this.#args.max_turns, this.#args.unknown_is_wrong)
    const reward = accuracy + format
    const metrics = {
      valid_action: 1,
      ...Object.fromEntries(Object.entries(rubric).map(([name, value]) => [`${name}:last`, Number(value)])),
    }
    return { observation: answer, reward, score: reward, done: true, won: rubric.answer_correct, metrics }
  }

  #rubric(answer: string, sources: readonly string[]): EmailRubric {
    const { turns, found, read } = this.#state
    const { truth, source } = this.#task
    return {
      attempted_answer: answer !== '',
      answer_correct: saysTruth(answer, truth),
      returned_i_dont_know: answer === UNKNOWN,
      ever_found_right_email: found,
      ever_read_right_email: read,
      sources_correct: source !== undefined && sources.includes(source),
      num_sources: sources.length,
      num_turns: turns,
    }
  }

  snapshot(): State {
    return this.#state
  }

  restore(snapshot: unknown): void {
    this.#state = snapshot as State
  }
}

function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(next.getTime())) throw new Error(`${day} is no day`)
  next.setUTCDate(next.getUTCDate() + 1)
  return next.toISOString().slice(0, 10)
}
