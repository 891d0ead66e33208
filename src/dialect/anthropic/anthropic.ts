import { chatAsked } from '../asked.js'
import type { Dialect, Refusal, Wire } from '../dialect.js'
import { newId } from '../ids.js'
import { messageEvents } from './events.js'
import { messageReply } from './reply.js'
import { readRequest } from './request.js'

/** Messages of Anthropic. */
export const anthropic: Dialect = {
  name: 'anthropic',
  path: '/messages',
  read(body, recall) {
    const request = readRequest(body, recall)
    return chatAsked(body, request, {
      callPrefix: 'toolu',
      reply: (head, answers, model, reading) => messageReply(head, answers, model, reading, request),
      events: (head, model, answering, reading) => messageEvents(head, model, answering, reading, request),
    })
  },
  replyId: () => newId('msg_'),
  refusal,
}

/** Types of errors that the SDK knows, by status. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function refusal({ status, message }: Refusal): Wire {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: newId('req_') }
}
