import { answerOf, type Reading } from '../answer.js'
import type { Answered, ChatModel } from '../chat-model.js'
import type { Head } from '../dialect.js'
import { messageOf, tell } from '../said.js'
import { logprobsOf } from './logprobs.js'
import type { ChatRequest } from './request.js'
import type { Completion, Usage } from './types.js'

/** The reply as a whole. The model is told how its answers read. */
export function completionOf(
  head: Head,
  answers: readonly Answered[],
  model: ChatModel,
  reading: Reading,
  { messages, logprobs, tokenIds }: ChatRequest,
): Completion {
  return {
    ...head,
    object: 'chat.completion',
    choices: answers.map((answered, index) => {
      const answer = answerOf(answered, index, reading)
      tell(model, head, answered, answer, messages.at(-1))
      return {
        index,
        message: { ...messageOf(answer), refusal: null },
        finish_reason: answer.finish,
        logprobs: logprobs ? logprobsOf(answered, model.tokenizer) : null,
        ...(tokenIds ? { token_ids: [...answered.sample.tokens] } : {}),
      }
    }),
    usage: usageOf(answers),
    ...(tokenIds ? { prompt_token_ids: promptIds(answers) } : {}),
  }
}

export function promptIds(answers: readonly Answered[]): number[] {
  const [first] = answers
  return first ? [...first.experience.tokens.subarray(0, first.experience.promptLength)] : []
}

export function usageOf(answers: readonly Answered[]): Usage {
  const prompt_tokens = answers[0]?.promptTokens ?? 0
  const completion_tokens = answers.reduce((sum, { sample }) => sum + sample.tokens.length, 0)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: answers[0]?.sample.cachedTokens ?? 0 },
  }
}
