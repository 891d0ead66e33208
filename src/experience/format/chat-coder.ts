import type { DataMessage } from '../../task/messages.js'

/** What the formatters need of a tokenizer with a chat template; `Chat` of `src/model` is one. */
export interface ChatCoder {
  encode(messages: readonly DataMessage[], options?: EncodeOptions): Int32Array
  encodeWithMask(
    messages: readonly DataMessage[],
    options?: Pick<EncodeOptions, 'tools' | 'enableThinking'>,
  ): { tokens: Int32Array; mask: Uint8Array; promptLength: number; divergences?: readonly unknown[] }
  readonly tokenizer: {
    encode(text: string, options?: { addSpecial?: boolean }): Int32Array
    decode(ids: Iterable<number>): string
  }
}

export interface EncodeOptions {
  tools?: readonly unknown[]
  addGenerationPrompt?: boolean
  enableThinking?: boolean
}
