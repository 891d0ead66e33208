import type { ChatMessage } from '../model/index.js'
import { answerOf, type Reading, readingOf } from './answer.js'
import type { ChatArgs } from './chat-args.js'
import type { Answered, ChatModel } from './chat-model.js'
import type { Answering, Asked, Carried, Head, ServerEvent, Wire } from './dialect.js'
import type { RequestNotes } from './request-notes.js'
import { messageOf } from './said.js'
import { sessionOf } from './wire.js'

/** What a chat request asks for, whatever the dialect. */
export interface ChatAsked {
  readonly messages: readonly ChatMessage[]
  readonly args: ChatArgs
  readonly stream: boolean
  readonly carried?: Carried
  readonly notes: RequestNotes
}

/** How a dialect writes answers. */
export interface Form {
  /** What ids of calls begin with. */
  readonly callPrefix?: string
  reply(head: Head, answers: readonly Answered[], model: ChatModel, reading: Reading): Wire
  events(head: Head, model: ChatModel, answering: Answering, reading: Reading): AsyncIterable<ServerEvent>
}

export function chatAsked(body: Wire, request: ChatAsked, form: Form): Asked {
  const { messages, stream, carried, notes } = request
  const args = { ...request.args, n: request.args.n ?? 1 }
  const reading = (model: ChatModel, { id }: Head) => readingOf(model, args.tools !== undefined, id, form.callPrefix)
  return {
    messages,
    stream,
    carried,
    notes,
    model: typeof body.model === 'string' ? body.model : undefined,
    session: sessionOf(body),
    sample: (model, onText, signal) => model.answers(messages, args, onText, signal),
    reply: (head, answers, model) => form.reply(head, answers, model, reading(model, head)),
    events: (head, model, answering) => form.events(head, model, answering, reading(model, head)),
    said: (answered, head, index, model) => messageOf(answerOf(answered, index, reading(model, head))),
  }
}
