import type { Tokenizer } from '../../model/index.js'
import type { Answered } from '../chat-model.js'
import type { TokenLogprob } from './types.js'

/** The log-prob of every token, and of those that were likeliest in its place. */
export function logprobsOf({ sample }: Answered, tokenizer: Tokenizer): { content: TokenLogprob[]; refusal: null } {
  const one = (id: number, logprob: number) => {
    const bytes = tokenizer.tokenBytes(id)
    return { token: new TextDecoder().decode(bytes), bytes: [...bytes], logprob }
  }
  const content = Array.from(sample.tokens, (id, i) => {
    const top = sample.topLogprobs?.[i]
    return {
      ...one(id, sample.logprobs[i]),
      top_logprobs: top ? Array.from(top.tokens, (other, j) => one(other, top.logprobs[j])) : [],
    }
  })
  return { content, refusal: null }
}
