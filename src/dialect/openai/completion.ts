import type { Tokenizer } from '../../model/index.js'
import type { Answered, ChatModel } from '../chat-model.js'
import { splitReasoning } from './parsers.js'
import { parseToolCalls } from './tool-calls.js'
import type { AssistantMessage, Completion, FinishReason, TokenLogprob, Usage } from './types.js'

export interface CompletionHead {
  readonly id: string
  readonly created: number
  readonly model: string
}

/** The message of an answer, with its tool calls where tools were offered. The model is told how it reads. */
export function assistantMessageOf(
  { experience, raw }: Answered,
  model: ChatModel,
  id: string,
  index: number,
  { tools, reasoning }: { tools: boolean; reasoning: boolean },
): { message: AssistantMessage; finish_reason: FinishReason } {
  const split = reasoning ? splitReasoning(experience.responseText ?? '') : undefined
  const text = split?.content ?? experience.responseText ?? ''
  const parsed = tools ? parseToolCalls(text, (i) => `call_${id}_${index}_${i}`) : { content: text, calls: [] }
  const message: AssistantMessage = { role: 'assistant', content: parsed.content, refusal: null }
  if (parsed.calls.length > 0) {
    message.tool_calls = parsed.calls
    if (parsed.content === '') message.content = null
  }
  if (split?.reasoning !== undefined) message.reasoning_content = split.reasoning
  if (message.content !== experience.responseText) model.remember(message, raw)
  if (experience.messages) experience.messages = [...experience.messages.slice(0, -1), { ...message }]
  const long = experience.truncateStatus !== undefined
  return { message, finish_reason: parsed.calls.length > 0 ? 'tool_calls' : long ? 'length' : 'stop' }
}

export function completionOf(
  head: CompletionHead,
  answers: readonly Answered[],
  model: ChatModel,
  options: { tools: boolean; reasoning: boolean; logprobs: boolean },
): Completion {
  return {
    ...head,
    object: 'chat.completion',
    choices: answers.map((answer, index) => {
      answer.experience.info.completion_id = head.id
      return {
        index,
        ...assistantMessageOf(answer, model, head.id, index, options),
        logprobs: options.logprobs ? { content: tokenLogprobs(answer, model.tokenizer), refusal: null } : null,
      }
    }),
    usage: usageOf(answers),
  }
}

export function usageOf(answers: readonly Answered[]): Usage {
  const prompt_tokens = answers[0]?.promptTokens ?? 0
  const completion_tokens = answers.reduce((sum, { sample }) => sum + sample.tokens.length, 0)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

function tokenLogprobs({ sample }: Answered, tokenizer: Tokenizer): TokenLogprob[] {
  const one = (id: number, logprob: number) => {
    const bytes = tokenizer.tokenBytes(id)
    return { token: new TextDecoder().decode(bytes), bytes: [...bytes], logprob }
  }
  return Array.from(sample.tokens, (id, i) => {
    const top = sample.topLogprobs?.[i]
    return {
      ...one(id, sample.logprobs[i]),
      top_logprobs: top ? Array.from(top.tokens, (other, j) => one(other, top.logprobs[j])) : [],
    }
  })
}
