import type { Tokenizer } from '../../model/index.js'
import type { Finish } from '../answer.js'
import type { Answered, ChatModel } from '../chat-model.js'
import type { Answering, Head, Wire } from '../dialect.js'
import { promptIds, usageOf } from '../openai/completion.js'
import { partStream } from '../part-stream.js'
import type { CompletionsAsked } from './request.js'

/** A plain text has no parts: nothing is looked for in it. */
export const PLAIN = { tools: false, reasoning: false, callId: () => '' }

/** The reply as a whole. */
export function textReply(head: Head, answers: readonly Answered[], model: ChatModel, request: CompletionsAsked): Wire {
  const choices = answers.map((answered, index) => {
    const { responseText: text = '', truncateStatus } = answered.experience
    return choiceOf(index, text, end(head, answered, model, request, truncateStatus === undefined ? 'stop' : 'length'))
  })
  return { ...head, object: 'text_completion', choices, usage: usageOfAll(answers, request.args.n) }
}

/** The reply as chunks while it is sampled. */
export async function* textChunks(
  head: Head,
  model: ChatModel,
  answering: Answering,
  request: CompletionsAsked,
): AsyncGenerator<Wire> {
  const chunk = (choices: Wire[]) => ({ ...head, object: 'text_completion', choices })
  const answers: Answered[] = []
  const { args, prompts, usage } = request
  for await (const streamed of partStream(model, answering, PLAIN, { ...args, n: args.n * prompts.length })) {
    if ('part' in streamed) {
      if (streamed.part.type !== 'call') yield chunk([choiceOf(streamed.index, streamed.part.text)])
      continue
    }
    const { index, answer, answered } = streamed
    answers.push(answered)
    yield chunk([choiceOf(index, '', end(head, answered, model, request, answer.finish))])
  }
  if (usage) yield { ...chunk([]), usage: usageOfAll(answers, args.n) }
}

function choiceOf(index: number, text: string, ended: Wire = {}): Wire {
  return { index, text, logprobs: null, finish_reason: null, ...ended }
}

function end(head: Head, answered: Answered, model: ChatModel, request: CompletionsAsked, finish: Finish): Wire {
  answered.experience.info.completion_id = head.id
  return {
    finish_reason: finish,
    ...(request.logprobs ? { logprobs: logprobsOf(answered, model.tokenizer) } : {}),
    ...(request.tokenIds ? { token_ids: [...answered.sample.tokens], prompt_token_ids: promptIds([answered]) } : {}),
  }
}

/** A prompt counts once, however many answers it has. */
function usageOfAll(answers: readonly Answered[], n: number): Wire {
  const prompt_tokens = answers.reduce((sum, { promptTokens }, i) => (i % n === 0 ? sum + promptTokens : sum), 0)
  const { completion_tokens } = usageOf(answers)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

/** Log-probs as this older API writes them: lists beside each other. */
function logprobsOf({ sample }: Answered, tokenizer: Tokenizer): Wire {
  const text = (id: number) => new TextDecoder().decode(tokenizer.tokenBytes(id))
  const tokens = Array.from(sample.tokens, text)
  let offset = 0
  return {
    tokens,
    token_logprobs: [...sample.logprobs],
    top_logprobs: sample.topLogprobs
      ? sample.topLogprobs.map((top) => Object.fromEntries([...top.tokens].map((id, i) => [text(id), top.logprobs[i]])))
      : null,
    text_offset: tokens.map((token) => {
      offset += token.length
      return offset - token.length
    }),
  }
}
