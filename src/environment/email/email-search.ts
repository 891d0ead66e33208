import { z } from 'zod'
import { environment } from '../environment.js'
import { openMailbox } from './mailbox.js'
import { persona } from './persona.js'
import { EmailSearch } from './world.js'

const args = z.strictObject({
  database: z
    .string()
    .optional()
    .describe('A database of mails, or a file with a mail in each row. Absent: the variable DEFAULT_EMAIL_DB_PATH.'),
  max_turns: z.int().min(1).default(10).describe('Turns after which an answer earns nothing for being early.'),
  tool_obs_char_limit: z.int().min(100).default(2000).describe('Characters of what a tool says that are shown.'),
  unknown_is_wrong: z
    .boolean()
    .default(false)
    .describe('Whether "I don\'t know" loses as much as a wrong answer, as in the original.'),
})

export const emailSearch = environment({
  doc: 'find the answer to a question in an indexed mailbox, with tools to search and read',
  args,
  maxSteps: 10,
  create: async (given) =>
    new EmailSearch(await openMailbox(given.database ?? process.env.DEFAULT_EMAIL_DB_PATH), given),
  persona: () => persona,
})
