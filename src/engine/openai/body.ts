import type { AskedChat, SamplingParams } from '../contract.js'

/** Larger limits stand for none: the service knows its own. */
const NO_LIMIT = 2 ** 31

/**
 * A request of the chat API. What changes nothing is left out: services refuse names that they do not know, and those
 * beyond OpenAI's own (`top_k`, `min_p`, …) are known only to some.
 */
export function requestBody(
  model: string,
  { messages, options }: AskedChat,
  { n, params, topLogprobs }: { n: number; params: SamplingParams; topLogprobs?: number },
): Record<string, unknown> {
  const { temperature, topP = 1, topK = 0, minP = 0, repetitionPenalty = 1, maxTokens, minTokens = 0 } = params
  const { presencePenalty, frequencyPenalty, logitBias, stop, stopTokenIds, ignoreEos, seed } = params
  return {
    model,
    messages,
    temperature,
    ...(n > 1 && { n }),
    ...(topP < 1 && { top_p: topP }),
    ...(topK > 0 && { top_k: topK }),
    ...(minP > 0 && { min_p: minP }),
    ...(repetitionPenalty !== 1 && { repetition_penalty: repetitionPenalty }),
    ...(presencePenalty && { presence_penalty: presencePenalty }),
    ...(frequencyPenalty && { frequency_penalty: frequencyPenalty }),
    ...(logitBias && { logit_bias: logitBias }),
    ...(maxTokens < NO_LIMIT && { max_tokens: maxTokens }),
    ...(minTokens > 0 && { min_tokens: minTokens }),
    ...(stop?.length && { stop }),
    ...(stopTokenIds?.length && { stop_token_ids: stopTokenIds }),
    ...(ignoreEos && { ignore_eos: true }),
    // services take 32 bits
    ...(seed !== undefined && { seed: Math.abs(seed) % NO_LIMIT }),
    ...(topLogprobs && { logprobs: true, top_logprobs: topLogprobs }),
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null)),
  }
}
