import { z } from 'zod'
import { environment, type Persona, type Transition, type Turn } from '../environment.js'
import { firstTag } from '../reply.js'
import { InterCodeSql } from './world.js'

const args = z.strictObject({
  data_path: z
    .string()
    .optional()
    .describe("InterCode's file of tasks; rows may name another, or hold their task themselves."),
  databases: z
    .string()
    .optional()
    .describe(
      'The folder with the databases, or a dump of MySQL. Absent: `database` or `ic_spider_dbs.sql` beside the file of tasks.',
    ),
  auto_submit: z
    .boolean()
    .default(true)
    .describe('At the limit of steps the last result counts as submitted; false: nothing is earned without `submit`.'),
  verbose: z.boolean().default(false).describe('Writes every statement and its result into the log.'),
  image_name: z.string().optional().describe('Of the original, which runs MySQL in Docker; nothing is started here.'),
})

const RULES = `You answer a question about a database with SQL, one statement at a time.

Each time, think briefly between <think> and </think>, then give exactly one action between <action> and </action>. An action is
- one SQL statement, in the dialect of SQLite; SHOW TABLES and DESC table are understood too
- submit, when the result of your last statement is the answer

For example:
<think>I look at some rows first.</think><action>SELECT * FROM singer LIMIT 5;</action>
<think>That result is the answer.</think><action>submit</action>

Nobody can help you; go on until you can submit.`

const persona: Persona = {
  system: () => RULES,
  prompt: ({ step, goal, observation }) =>
    step === 0 ? `${goal}\nObservation: ${observation}` : `Observation: ${observation}`,
  action: (reply, turn) => firstTag(reply, 'action')?.text || refusal(turn),
}

/** It costs a step; what the last result is worth stays. */
function refusal({ past }: Turn): Transition {
  return {
    observation: 'Invalid action. Put one SQL statement, or submit, between <action> and </action>.',
    reward: 0,
    done: false,
    score: past.at(-1)?.transition.score ?? 0,
    metrics: { valid_action: 0 },
  }
}

export const intercodeSql = environment({
  doc: 'answer a question about a database with SQL, as in InterCode',
  args,
  maxSteps: 10,
  create: (given, { logger }) => new InterCodeSql(given, logger),
  persona: () => persona,
})
