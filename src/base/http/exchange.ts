import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http'
import { request as requestSafe, Agent as SafeAgent } from 'node:https'

/**
 * Connections to one server, kept for the next request. A free one is given up before servers do so themselves (uvicorn
 * after 5 s): a request on a connection that is just being closed would be lost.
 */
export function connectionsTo(url: URL, most: number): PlainAgent {
  const options = { keepAlive: true, maxSockets: most, timeout: 4000 }
  return url.protocol === 'https:' ? new SafeAgent(options) : new PlainAgent(options)
}

export interface Exchange {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | undefined
  readonly agent: PlainAgent
  readonly signal: AbortSignal
}

/** No answer came. */
export class NoAnswer extends Error {
  /** Whether there was a connection, so that the server may have got the request. */
  readonly connected: boolean

  constructor(cause: unknown, connected: boolean) {
    super(cause instanceof Error ? reasonOf(cause) : String(cause), { cause })
    this.connected = connected
  }
}

/** A host with several addresses fails with one error for each, and no words of its own. */
function reasonOf(error: Error & { code?: string; errors?: unknown }): string {
  const first = Array.isArray(error.errors) ? (error.errors[0] as Error) : error
  return first.message || error.message || error.code || 'no connection'
}

/**
 * One request and the head of its answer. Not fetch: that gives up after five minutes whatever it is told, and follows
 * redirects of others.
 */
export function exchange(url: URL, { body, headers, ...rest }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let connected = false
    const send = url.protocol === 'https:' ? requestSafe : requestPlain
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = send(
      url,
      { ...rest, headers: { 'accept-encoding': 'identity', ...headers, ...length } },
      (message) => {
        // given up between two pieces, it has no reader that would hear of it
        message.on('error', () => {})
        resolve(message)
      },
    )
    request.on('error', (error) => reject(new NoAnswer(error, connected)))
    request.on('socket', (socket) => {
      if (!socket.connecting) connected = true
      else socket.once('connect', () => (connected = true))
    })
    request.end(body)
  })
}

/** The body of an answer, piece by piece; more than `most` bytes are refused. */
export async function* piecesOf(message: IncomingMessage, most: number): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  for await (const piece of message as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > most) throw new TooLarge(most)
    yield piece
  }
  if (!message.complete) throw new Error('aborted')
}

export class TooLarge extends Error {
  constructor(most: number) {
    super(`more than ${most} bytes`)
  }
}

/** Of an answer that is no success: enough for the words of any server. */
const MOST_WORDS = 64 * 1024

/** The start of a body; the rest is not waited for. */
export async function startOf(message: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of piecesOf(message, MOST_WORDS)) pieces.push(piece)
  } catch {
    // the status says more than what is missing of the words
    message.destroy()
  }
  return Buffer.concat(pieces).toString()
}
