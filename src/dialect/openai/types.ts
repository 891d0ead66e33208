import type { ChatMessage } from '../../model/index.js'
import type { ChatArgs } from '../chat-args.js'

/** The part of the OpenAI chat API that is understood, as its SDK spells it. */
export interface CompletionRequest extends Omit<ChatArgs, 'logprobs'> {
  model?: string
  messages: readonly ChatMessage[]
  stream?: boolean | null
  stream_options?: { include_usage?: boolean } | null
  max_completion_tokens?: number | null
  logprobs?: boolean | null
  top_logprobs?: number | null
  [key: string]: unknown
}

export interface ToolCallMessage {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  [key: string]: unknown
}

export interface AssistantMessage {
  role: 'assistant'
  content: string | null
  refusal: null
  tool_calls?: ToolCallMessage[]
  /** Where `reasoning_parser` is set. */
  reasoning_content?: string
  [key: string]: unknown
}

export type FinishReason = 'stop' | 'length' | 'tool_calls'

export interface TokenLogprob {
  token: string
  bytes: number[]
  logprob: number
  top_logprobs: { token: string; bytes: number[]; logprob: number }[]
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export interface Completion {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: {
    index: number
    message: AssistantMessage
    finish_reason: FinishReason
    logprobs: { content: TokenLogprob[]; refusal: null } | null
  }[]
  usage: Usage
}

export interface CompletionChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  choices: {
    index: number
    delta: {
      role?: 'assistant'
      content?: string
      reasoning_content?: string
      tool_calls?: (ToolCallMessage & { index: number })[]
    }
    finish_reason: FinishReason | null
    logprobs: null
  }[]
  usage?: Usage | null
}

export interface RequestOptions {
  signal?: AbortSignal | null
  [key: string]: unknown
}
