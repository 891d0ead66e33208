import { chatAsked } from '../asked.js'
import type { Dialect } from '../dialect.js'
import { newId } from '../ids.js'
import { openaiRefusal } from '../openai/refusal.js'
import { responseEvents } from './events.js'
import { responseReply } from './reply.js'
import { readRequest } from './request.js'

/** Responses of OpenAI: an input of items, an output of items. */
export const responses: Dialect = {
  name: 'responses',
  path: '/responses',
  read(body, recall) {
    const request = readRequest(body, recall)
    return chatAsked(body, request, {
      reply: (head, answers, model, reading) => responseReply(head, answers, model, reading, request),
      events: (head, model, answering, reading) => responseEvents(head, model, answering, reading, request),
    })
  },
  replyId: () => newId('resp_'),
  refusal: openaiRefusal,
}
