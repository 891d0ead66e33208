import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { TrinityError } from '../base/error.js'
import { readBody } from '../gateway/body.js'
import { errorBody } from './error-body.js'
import type { Part } from './part.js'

type Acting = Extract<Part, { act: unknown }>

const LIMITS = { bodyBytes: 4 << 20, bodyMs: 60_000 }
/** A page that wants to hear parts of an answer asks for lines. */
const LINES = 'application/x-ndjson'

/**
 * Answers a POST. Browsers say with every POST which page sends it: it must be one of ours. JSON is asked for by name, as
 * forms of other pages cannot send it.
 */
export async function answerAct(c: Context<{ Bindings: HttpBindings }>, part: Acting): Promise<Response> {
  const { headers } = c.env.incoming
  if (headers.origin !== `http://${headers.host}` || !/^application\/json\b/.test(headers['content-type'] ?? '')) {
    throw new TrinityError('studio/origin', 'only the page of this Studio may do that')
  }
  const body = await readJson(c)
  const run = c.req.param('run') ?? ''
  const { signal } = c.req.raw
  if (headers.accept !== LINES) return c.json(await part.act(body, run, { tell: () => {}, signal }))
  return lines(c, (tell) => part.act(body, run, { tell, signal }))
}

/** Reads the body within the limits of size and time, however it is sent. */
async function readJson(c: Context<{ Bindings: HttpBindings }>): Promise<unknown> {
  const bytes = await readBody(c.env.incoming, LIMITS).catch((error) => {
    // the rest of the body is not read
    c.header('connection', 'close')
    const isLarge = error instanceof TrinityError && error.code === 'gateway/too-large'
    throw isLarge ? new TrinityError('studio/query', `more than ${LIMITS.bodyBytes >> 20} MB were sent`) : error
  })
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new TrinityError('studio/query', 'the body is no JSON')
  }
}

/** Parts of the answer as they come, then the answer: a line of JSON each. */
function lines(c: Context, work: (tell: (part: object) => void) => Promise<object>): Response {
  const encoder = new TextEncoder()
  const stream = new ReadableStream({
    async start(controller) {
      const write = (value: object) => {
        try {
          controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
        } catch {
          // the page has left
        }
      }
      try {
        write({ result: await work((part) => write({ part })) })
      } catch (error) {
        write(errorBody(error))
      }
      try {
        controller.close()
      } catch {
        // the page has left
      }
    },
  })
  return c.body(stream, 200, { 'content-type': LINES })
}
