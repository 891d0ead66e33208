import type { ServerResponse } from 'node:http'
import type { Dialect } from '../dialect/dialect.js'
import { eventText } from './event-stream.js'
import { refusalOf } from './refusal.js'

export const JSON_TYPE = 'application/json'

type Headers = Readonly<Record<string, string | number>>

/** Sends a whole response; nothing where the client is gone. */
export function send(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Headers = {},
): void {
  if (response.destroyed || response.writableEnded) return
  const length = Buffer.byteLength(text)
  response.writeHead(status, {
    'content-type': type,
    'content-length': length,
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(text)
}

/** What SDKs show to tell a reply from others. */
export function replyHeaders(id: string): Record<string, string> {
  return { 'x-request-id': id, 'request-id': id }
}

/** Tells a client what went wrong, as its dialect does: as the response, or as the last event of a stream. Returns the status. */
export function refuse(response: ServerResponse, dialect: Dialect, error: unknown, headers: Headers = {}): number {
  const { retryAfter, ...refusal } = refusalOf(error)
  const wire = dialect.refusal(refusal)
  if (!response.headersSent) {
    const retry: Headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    send(response, refusal.status, JSON_TYPE, JSON.stringify(wire), { ...retry, ...headers })
  } else if (!response.writableEnded && !response.destroyed) {
    // Dialects with named events name them as their objects are typed.
    const event = typeof wire.type === 'string' ? wire.type : undefined
    response.end(eventText({ event, data: JSON.stringify(wire) }))
  }
  return refusal.status
}
