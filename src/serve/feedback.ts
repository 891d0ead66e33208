import { z } from 'zod'
import { parseArguments } from '../base/arguments.js'

/** What answers were worth. */
export interface Feedback {
  readonly reward: number
  /** Of replies, each once. */
  readonly ids: readonly string[]
  /** Answers of one task are compared with each other. */
  readonly task: string
  /** Which attempt at the task. */
  readonly run: number
}

const MOST_IDS = 10_000
/** Of the column. */
const MOST_RUN = 2 ** 31 - 1

/** PostgreSQL takes no U+0000, and the commit with such an id would never end. */
const text = z.string().refine((value) => !value.includes('\0'), 'expected a text without U+0000')
const schema = z.strictObject({
  reward: z.union([z.number(), z.boolean()], { error: 'expected a finite number' }),
  msg_ids: z.array(text.min(1).max(256)).min(1).max(MOST_IDS),
  task_id: z.union([text.max(256), z.int()], { error: 'expected a string or a whole number' }).nullish(),
  run_id: z.int().min(0).max(MOST_RUN).nullish(),
})

/** Reads the body of `POST /feedback`. */
export function readFeedback(body: Readonly<Record<string, unknown>>): Feedback {
  const { reward, msg_ids, task_id, run_id } = parseArguments('feedback', schema, body, 'feedback')
  return { reward: Number(reward), ids: [...new Set(msg_ids)], task: String(task_id ?? ''), run: run_id ?? 0 }
}
