import { chatAsked } from '../asked.js'
import type { Dialect, ServerEvent } from '../dialect.js'
import { newId } from '../ids.js'
import { completionOf } from './completion.js'
import { openaiRefusal } from './refusal.js'
import { readRequest } from './request.js'
import { chunksOf } from './stream.js'

/** Chat completions of OpenAI, which most SDKs and servers speak. */
export const chat: Dialect = {
  name: 'chat',
  path: '/chat/completions',
  read(body) {
    const request = readRequest(body)
    return chatAsked(body, request, {
      reply: (head, answers, model, reading) => ({ ...completionOf(head, answers, model, reading, request) }),
      events: (head, model, answering, reading) => asEvents(chunksOf(head, model, answering, reading, request)),
    })
  },
  replyId: () => newId('chatcmpl-'),
  refusal: openaiRefusal,
}

/** Chunks as the OpenAI APIs send them, with the mark behind the last. */
export async function* asEvents(chunks: AsyncIterable<object>): AsyncGenerator<ServerEvent> {
  for await (const chunk of chunks) yield { data: JSON.stringify(chunk) }
  yield { data: '[DONE]' }
}
