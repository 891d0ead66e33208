import { TrinityError } from '../../base/error.js'
import type { Answered, ChatModel, OnText } from '../chat-model.js'
import type { CompletionsAsked } from './request.js'

/** Answers to all prompts, those to the first one first. */
export async function sampleAll(
  model: ChatModel,
  { prompts, args }: CompletionsAsked,
  onText: OnText | undefined,
  signal: AbortSignal,
): Promise<Answered[]> {
  const { vocabSize } = model.tokenizer
  for (const [i, prompt] of prompts.entries()) {
    const odd = typeof prompt === 'string' ? undefined : prompt.find((token) => token >= vocabSize)
    if (odd === undefined) continue
    throw new TrinityError('dialect/invalid', `the vocabulary has no token ${odd}`, {
      path: prompts.length > 1 ? `prompt[${i}]` : 'prompt',
    })
  }
  const answers = prompts.map((prompt, i) => {
    const own: OnText | undefined = onText && ((index, ...rest) => onText(i * args.n + index, ...rest))
    return model.complete(prompt, args, own, signal)
  })
  return (await Promise.all(answers)).flat()
}
