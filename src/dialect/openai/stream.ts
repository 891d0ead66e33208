import type { DecodeStream } from '../../model/index.js'
import type { Answered, ChatModel } from '../chat-model.js'
import { TOOL_CALL } from '../tool-format.js'
import { assistantMessageOf, type CompletionHead, usageOf } from './completion.js'
import { TextGate } from './text-gate.js'
import type { CompletionChunk } from './types.js'

/** What the SDK calls a Stream: chunks as they are sampled. Leaving the loop early stops the sampling. */
export interface CompletionStream extends AsyncIterable<CompletionChunk> {
  readonly controller: AbortController
}

interface Choice {
  readonly decoder: DecodeStream
  readonly gate: TextGate
  sent: number
}

type Call = (onToken: (index: number, token: number) => void) => Promise<Answered[]>

export function streamOf(
  head: CompletionHead,
  model: ChatModel,
  call: Call,
  controller: AbortController,
  options: { n: number; tools: boolean; reasoning: boolean; usage: boolean; stop: readonly string[] },
): CompletionStream {
  const chunk = (choices: CompletionChunk['choices']): CompletionChunk => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
  })
  const delta = (
    index: number,
    delta: CompletionChunk['choices'][number]['delta'],
    finish_reason: CompletionChunk['choices'][number]['finish_reason'] = null,
  ) => chunk([{ index, delta, finish_reason, logprobs: null }])

  async function* chunks(): AsyncGenerator<CompletionChunk> {
    const queue: CompletionChunk[] = []
    let wake = () => {}
    let answers: Answered[] | undefined
    let failure: { error: unknown } | undefined
    const marks = options.tools ? [TOOL_CALL, ...options.stop] : options.stop
    const choices: Choice[] = Array.from({ length: options.n }, () => {
      const gate = new TextGate(marks)
      // Reasoning is told from the answer when both are there.
      if (options.reasoning) gate.shut()
      return { decoder: model.tokenizer.stream(), gate, sent: 0 }
    })
    const running = call((index, token) => {
      const choice = choices[index]
      const free = choice.gate.push(choice.decoder.push(token))
      if (free === '') return
      choice.sent += free.length
      queue.push(delta(index, { content: free }))
      wake()
    }).then(
      (result) => {
        answers = result
        wake()
      },
      (error) => {
        failure = { error }
        wake()
      },
    )
    try {
      for (let index = 0; index < options.n; index++) yield delta(index, { role: 'assistant', content: '' })
      for (;;) {
        while (queue.length > 0) yield queue.shift()!
        if (answers || failure) break
        await new Promise<void>((resolve) => {
          wake = resolve
          if (queue.length > 0 || answers || failure) resolve()
        })
      }
      if (failure) throw failure.error
      for (const [index, answer] of answers!.entries()) {
        answer.experience.info.completion_id = head.id
        const { message, finish_reason } = assistantMessageOf(answer, model, head.id, index, options)
        if (message.reasoning_content) yield delta(index, { reasoning_content: message.reasoning_content })
        // Text that was held back and turned out to belong to the answer.
        const rest = message.tool_calls ? '' : (message.content ?? '').slice(choices[index].sent)
        if (rest !== '') yield delta(index, { content: rest })
        const calls = message.tool_calls?.map((one, i) => ({ ...one, index: i }))
        if (calls) yield delta(index, { tool_calls: calls })
        yield delta(index, {}, finish_reason)
      }
      if (options.usage) yield { ...chunk([]), usage: usageOf(answers!) }
    } finally {
      if (!answers && !failure) controller.abort()
      await running
    }
  }
  return { controller, [Symbol.asyncIterator]: chunks }
}
