import { z } from 'zod'
import { parseJsonText } from '../../base/json-text.js'
import { firstTag } from '../reply.js'

/** The tools, with the names and arguments of the original, as models are told them. */
export const TOOLS = [
  {
    name: 'search_emails',
    description:
      'Searches the mails of a user. Gives up to 10 of them, the latest first: message_id and a snippet of each.',
    parameters: {
      type: 'object',
      properties: {
        inbox_address: { type: 'string', description: "The user's e-mail address." },
        query_date: { type: 'string', description: "Today's date, as YYYY-MM-DD. Later mails are not found." },
        keywords: {
          type: 'array',
          items: { type: 'string' },
          description: 'Words that all stand in the subject or body.',
        },
      },
      required: ['inbox_address', 'query_date', 'keywords'],
    },
  },
  {
    name: 'read_email',
    description: 'Gives a whole mail.',
    parameters: {
      type: 'object',
      properties: { message_id: { type: 'string', description: 'The message_id of the mail.' } },
      required: ['message_id'],
    },
  },
  {
    name: 'generate_response',
    description: 'Ends the search with the answer.',
    parameters: {
      type: 'object',
      properties: {
        answer: { type: 'string', description: "The answer; I don't know, if it cannot be found." },
        sources: {
          type: 'array',
          items: { type: 'string' },
          description:
            'The message_ids of the mails that the answer comes from, mostly one; none if it cannot be found.',
        },
      },
      required: ['answer', 'sources'],
    },
  },
] as const

const day = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'expected YYYY-MM-DD')
const texts = z.array(z.string())
const call = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('search_emails'),
    arguments: z.object({ inbox_address: z.string(), query_date: day, keywords: texts.min(1, 'expected a keyword') }),
  }),
  z.object({ name: z.literal('read_email'), arguments: z.object({ message_id: z.string() }) }),
  z.object({
    name: z.literal('generate_response'),
    arguments: z.object({ answer: z.string(), sources: texts.default([]) }),
  }),
])
export type ToolCall = z.output<typeof call>
export type Answer = Extract<ToolCall, { name: 'generate_response' }>['arguments']

/** What a person need not say. */
export interface Asker {
  readonly inbox: string
  readonly date: string
}

/**
 * A call of a tool in JSON, `{"name": …, "arguments": …}`; or, for people, the name and what it is about: `search_emails
 * budget june`, `read_email <id>`, `generate_response Tuesday`. Otherwise what is wrong with it.
 */
export function readCall(action: string, asker: Asker): ToolCall | { readonly problem: string } {
  const given = parsed(action) ?? shortForm(action.trim(), asker)
  if (given === undefined) return { problem: 'it is not JSON with a name and arguments' }
  const { data, error } = call.safeParse(given)
  if (data) return data
  const [{ path, message }] = error.issues
  return { problem: path[0] === 'name' ? 'there is no such tool' : `${path.slice(1).join('.')}: ${message}` }
}

/** The call of the first `<tool_call>` of a reply. */
export function callIn(reply: string): string | undefined {
  return firstTag(reply, 'tool_call')?.text
}

/** What ended a search, where it was an answer. */
export function answerIn(action: string | undefined): Answer | undefined {
  const read = readCall(action ?? '', { inbox: '', date: '' })
  return 'name' in read && read.name === 'generate_response' ? read.arguments : undefined
}

function parsed(text: string): unknown {
  try {
    const given: unknown = parseJsonText(text)
    if (given === null || typeof given !== 'object') return undefined
    const { arguments: inner } = given as { arguments?: unknown }
    // Some models write the arguments as JSON in a text.
    return typeof inner === 'string' ? { ...given, arguments: parseJsonText(inner) } : given
  } catch {
    return undefined
  }
}

function shortForm(text: string, { inbox, date }: Asker): object | undefined {
  const [, name, rest] = /^(\w+)\s+(\S[\s\S]*)$/.exec(text) ?? []
  if (name === 'search_emails') {
    return { name, arguments: { inbox_address: inbox, query_date: date, keywords: rest.split(/\s+/) } }
  }
  if (name === 'read_email') return { name, arguments: { message_id: rest } }
  return name === 'generate_response' ? { name, arguments: { answer: rest } } : undefined
}
