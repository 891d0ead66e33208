import { answerOf } from '../answer.js'
import type { Dialect } from '../dialect.js'
import { newId } from '../ids.js'
import { asEvents } from '../openai/chat.js'
import { openaiRefusal } from '../openai/refusal.js'
import { messageOf } from '../said.js'
import { sessionOf } from '../wire.js'
import { PLAIN, textChunks, textReply } from './reply.js'
import { readRequest } from './request.js'
import { sampleAll } from './sample.js'

/** Completions of OpenAI: a text or tokens are continued as they are, without a chat template. */
export const completions: Dialect = {
  name: 'completions',
  path: '/completions',
  read(body) {
    const request = readRequest(body)
    return {
      stream: request.stream,
      notes: request.notes,
      model: typeof body.model === 'string' ? body.model : undefined,
      session: sessionOf(body),
      sample: (model, onText, signal) => sampleAll(model, request, onText, signal),
      reply: (head, answers, model) => textReply(head, answers, model, request),
      events: (head, model, answering) => asEvents(textChunks(head, model, answering, request)),
      said: (answered, _head, index) => messageOf(answerOf(answered, index, PLAIN)),
    }
  },
  replyId: () => newId('cmpl-'),
  refusal: openaiRefusal,
}
