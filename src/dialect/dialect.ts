import type { ChatMessage } from '../model/index.js'
import type { Answered, ChatModel, OnText } from './chat-model.js'
import type { RequestNotes } from './request-notes.js'

/** A JSON object as it crosses the wire. */
export type Wire = Readonly<Record<string, unknown>>

/** What stands at the top of every reply. */
export interface Head {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  /** What the client calls the model, else the model's own name. */
  readonly model: string
}

/** One server-sent event. */
export interface ServerEvent {
  readonly event?: string
  readonly data: string
}

/** What went wrong, as a server tells it. */
export interface Refusal {
  readonly status: number
  /** A stable word for programs. */
  readonly code: string
  readonly message: string
  /** The part of the request that is to blame. */
  readonly param?: string
}

/** Samples answers; called once. */
export type Answering = (onText: OnText, signal: AbortSignal) => Promise<Answered[]>

/** What a request asks for, and how its answers are written. */
export interface Asked {
  /** The conversation so far, in our form; undefined: a plain text is continued. */
  readonly messages?: readonly ChatMessage[]
  readonly stream: boolean
  /** As the client names it. */
  readonly model?: string
  /** What the client gave to tell its sessions apart (`user`, `metadata`). */
  readonly session?: string
  /** What a later request that names the reply to this one relies on, beside the messages. Undefined: no request can. */
  readonly carried?: Carried
  /** Fields, tools and media of the request that do not reach the model. */
  readonly notes?: RequestNotes
  sample(model: ChatModel, onText: OnText | undefined, signal: AbortSignal): Promise<Answered[]>
  /** The reply as a whole. Tells the model how its answers read to the client (`ChatModel.remember`). */
  reply(head: Head, answers: readonly Answered[], model: ChatModel): Wire
  /** The reply as events. Leaving the loop early stops the sampling. */
  events(head: Head, model: ChatModel, answering: Answering): AsyncIterable<ServerEvent>
  /** The assistant's message of a reply, as the client will send it back. */
  said(answer: Answered, head: Head, index: number, model: ChatModel): ChatMessage
}

/** What clients need not send again when they name an earlier reply. The server only keeps it. */
export interface Carried {
  readonly tools?: readonly unknown[]
  /** The first message is no part of the thread: instructions hold for one reply. */
  readonly instructed?: boolean
}

/** Where an earlier reply stood: the messages up to and with it, and what its request carried. */
export interface Recalled {
  readonly messages: readonly ChatMessage[]
  readonly carried?: Carried
}

/** For clients that name an earlier reply and send only what is new. */
export type Recall = (replyId: string) => Recalled | undefined

/** A chat API as it looks on the wire: how a request is read, how answers and errors are written. */
export interface Dialect {
  readonly name: string
  /** Where its requests go, below the version: `/chat/completions`. */
  readonly path: string
  /**
   * Throws if the body asks for what cannot be done. Unknown fields that do not change an answer are ignored, and recorded
   * in the notes of the result.
   */
  read(body: Wire, recall: Recall): Asked
  replyId(): string
  refusal(refusal: Refusal): Wire
}
