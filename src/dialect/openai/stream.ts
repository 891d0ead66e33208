import type { Part, Reading } from '../answer.js'
import type { Answered, ChatModel } from '../chat-model.js'
import type { Answering, Head } from '../dialect.js'
import { partStream } from '../part-stream.js'
import { tell, toolCallMessage } from '../said.js'
import { promptIds, usageOf } from './completion.js'
import { logprobsOf } from './logprobs.js'
import type { ChatRequest } from './request.js'
import type { CompletionChunk } from './types.js'

type Choice = CompletionChunk['choices'][number]

/** The reply as chunks while it is sampled. */
export async function* chunksOf(
  head: Head,
  model: ChatModel,
  answering: Answering,
  reading: Reading,
  { args, messages, usage, logprobs, tokenIds }: ChatRequest,
  controller?: AbortController,
): AsyncGenerator<CompletionChunk> {
  const chunk = (choices: Choice[]): CompletionChunk => ({ ...head, object: 'chat.completion.chunk', choices })
  const delta = (index: number, delta: Choice['delta'], last: Partial<Choice> = {}) =>
    chunk([{ index, delta, finish_reason: null, logprobs: null, ...last }])
  const n = args.n ?? 1
  const calls = new Array<number>(n).fill(0)
  const answers: Answered[] = []
  let begun = false
  for await (const streamed of partStream(model, answering, reading, args, controller)) {
    for (let index = 0; index < n && !begun; index++) yield delta(index, { role: 'assistant', content: '' })
    begun = true
    const { index } = streamed
    if ('part' in streamed) {
      yield delta(index, deltaOf(streamed.part, calls, index))
      continue
    }
    const { answer, answered } = streamed
    answers.push(answered)
    tell(model, head, answered, answer, messages.at(-1))
    const last = {
      finish_reason: answer.finish,
      // what else was likely is only known at the end
      logprobs: logprobs ? logprobsOf(answered, model.tokenizer) : null,
      ...(tokenIds ? { token_ids: [...answered.sample.tokens] } : {}),
    }
    yield delta(index, {}, last)
  }
  if (!usage && !tokenIds) return
  yield { ...chunk([]), usage: usageOf(answers), ...(tokenIds ? { prompt_token_ids: promptIds(answers) } : {}) }
}

function deltaOf(part: Part, calls: number[], index: number): Choice['delta'] {
  if (part.type === 'call') return { tool_calls: [{ index: calls[index]++, ...toolCallMessage(part.call) }] }
  return part.type === 'text' ? { content: part.text } : { reasoning_content: part.text }
}
