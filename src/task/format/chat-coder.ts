import type { Message } from '../../experience/experience.js'

/** What the formatters need of a tokenizer with a chat template; `Chat` of `src/model` is one. */
export interface ChatCoder {
  encode(messages: Readonly<ChatMessages>, options?: EncodeOptions): Int32Array
  encodeWithMask(
    messages: Readonly<ChatMessages>,
    options?: Pick<EncodeOptions, 'tools' | 'enableThinking'>,
  ): { tokens: Int32Array; mask: Uint8Array; promptLength: number }
  readonly tokenizer: {
    encode(text: string, options?: { addSpecial?: boolean }): Int32Array
    decode(ids: Iterable<number>): string
  }
}

/** Messages after normalisation: content is text, a list of parts, or absent. */
export interface ChatLike {
  readonly role: string
  readonly content?: string | null | readonly unknown[]
}

export interface EncodeOptions {
  tools?: readonly unknown[]
  addGenerationPrompt?: boolean
  enableThinking?: boolean
}

/** Messages that are both what an experience stores and what a template reads. */
export type ChatMessages = (Message & ChatLike)[]
