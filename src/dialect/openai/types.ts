import type { ChatMessage } from '../../model/index.js'
import type { Finish } from '../answer.js'
import type { ChatArgs } from '../chat-args.js'
import type { AssistantMessage, ToolCallMessage } from '../said.js'

/** The part of the OpenAI chat API that is understood, as its SDK spells it. */
export interface CompletionRequest extends Omit<ChatArgs, 'logprobs'> {
  model?: string
  messages: readonly ChatMessage[]
  stream?: boolean | null
  stream_options?: { include_usage?: boolean } | null
  max_completion_tokens?: number | null
  logprobs?: boolean | null
  top_logprobs?: number | null
  /** Tokens of the prompt and of the answers beside their text, as vLLM gives them. */
  return_token_ids?: boolean | null
  [key: string]: unknown
}

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
  prompt_tokens_details?: { cached_tokens: number }
}

export interface Completion {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: {
    index: number
    message: AssistantMessage & { refusal: null }
    finish_reason: Finish
    logprobs: { content: TokenLogprob[]; refusal: null } | null
    /** Where `return_token_ids` is set. */
    token_ids?: number[]
  }[]
  usage: Usage
  prompt_token_ids?: number[]
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
    finish_reason: Finish | null
    /** All of them in the last chunk of a choice. */
    logprobs: { content: TokenLogprob[]; refusal: null } | null
    token_ids?: number[]
  }[]
  usage?: Usage | null
  prompt_token_ids?: number[]
}

export interface RequestOptions {
  signal?: AbortSignal | null
  [key: string]: unknown
}
