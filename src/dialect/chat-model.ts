/**
 * How others speak with a model: the wire forms of chat APIs. They serve the client inside a rollout, and a server as
 * well.
 */

import type { Sample } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import type { ChatMessage, Tokenizer } from '../model/index.js'
import type { ChatArgs, SamplingArgs } from './chat-args.js'
import type { Parsers } from './parsers.js'
import type { RequestNotes, UnknownFields } from './request-notes.js'

/** Called with every token as it is sampled; `index` says of which answer. */
export type OnText = (index: number, token: number, logprob: number) => void

/** An answer with the sample behind it. */
export interface Answered {
  readonly experience: Experience
  readonly sample: Sample
  /** The text as the model wrote it, end token left out. */
  readonly raw: string
  readonly promptTokens: number
}

/** What tells an assistant's message from another. */
export interface Said {
  readonly content?: unknown
  readonly tool_calls?: unknown
}

/** What a dialect needs of the model it speaks for. */
export interface ChatModel {
  readonly name: string
  readonly tokenizer: Tokenizer
  /** How tool calls and reasoning are found in what the model writes. */
  readonly parsers?: Parsers
  /** Sampling where a call says nothing. */
  readonly defaults?: SamplingArgs
  /** Treatment of unknown fields of a request. Default: `ignore`. */
  readonly unknownFields?: UnknownFields
  /** Counts what a request for this model lost while it was read. */
  noted?(notes: RequestNotes): void
  answers(messages: readonly ChatMessage[], args?: ChatArgs, onText?: OnText, signal?: AbortSignal): Promise<Answered[]>
  /** Goes on from a plain text, or from tokens as they are. */
  complete(
    prompt: string | ArrayLike<number>,
    args?: SamplingArgs,
    onText?: OnText,
    signal?: AbortSignal,
  ): Promise<Answered[]>
  /** Tells that `message` is how `raw` reads to others, so that the next turn finds the tokens again. */
  remember(message: Said, raw: string): void
}
