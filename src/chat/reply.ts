import type { ChatArgs } from '../dialect/chat-args.js'
import { type ChatMessage, DecodeStream } from '../model/index.js'
import type { RolloutModel } from '../workflow/index.js'
import { type SpokenToken, spokenTokens } from './spoken-token.js'

export interface ReplyOptions {
  /** No chat: the model goes on with the text. */
  readonly plain?: boolean
  /** So many of the likeliest tokens beside each that was drawn. */
  readonly alternatives?: number
  /** Instead of what the model was opened with. */
  readonly sampling?: Pick<ChatArgs, 'temperature' | 'top_p' | 'top_k' | 'max_tokens' | 'seed' | 'repetition_penalty'>
}

export interface Reply {
  readonly text: string
  /** Only where alternatives were asked for. */
  readonly tokens: readonly SpokenToken[]
  /**
   * `length`: at the most tokens of a reply. `context`: at the most that the model reads and writes together. `full`: what
   * was said does not fit into the model any more, and was not said.
   */
  readonly end: 'stop' | 'length' | 'context' | 'full'
  /** Tokens that the model reads and writes together. */
  readonly context: number
}

/** What a model says to these messages; `onText` hears it as it comes. */
export async function replyTo(
  model: RolloutModel,
  said: readonly ChatMessage[],
  { plain, alternatives, sampling }: ReplyOptions,
  onText: (text: string) => void,
  signal?: AbortSignal,
): Promise<Reply> {
  const words = new DecodeStream(model.tokenizer)
  const heard = (_: number, token: number) => onText(words.push(token))
  // the one that is drawn may be among them
  const args = { ...sampling, logprobs: alternatives && alternatives + 1 }
  const [answer] = plain
    ? await model.complete(said.map(({ content }) => content).join(''), args, heard, signal)
    : await model.answers(said, args, heard, signal)
  const { truncateStatus, responseText = '' } = answer.experience
  const context = model.limits.maxModelLen
  if (truncateStatus === 'prompt_truncated') return { text: '', tokens: [], end: 'full', context }
  onText(words.end())
  const tokens = alternatives === undefined ? [] : spokenTokens(model.tokenizer, answer.sample, alternatives)
  const isFilled = answer.promptTokens + answer.sample.tokens.length >= context
  const end = truncateStatus !== 'response_truncated' ? 'stop' : isFilled ? 'context' : 'length'
  return { text: responseText, tokens, end, context }
}
