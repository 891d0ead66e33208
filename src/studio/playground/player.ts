import { replyTo } from '../../chat/index.js'
import { Closers } from '../../run/closers.js'
import { type NewConversation, openOneModel } from '../../run/one-model.js'
import type { ChatPart, ChatQuery, ChatReply, Sampling } from '../api.js'
import type { Handlers } from '../child/message.js'
import { Scores, type ToScore } from './scores.js'
import { type ToTry, Tries } from './try.js'

/** So many tokens beside each that was drawn. */
const ALTERNATIVES = 5
/** Of the longest reply that somebody may ask for. */
const LONGEST = 4096
const USUAL = { temperature: 0.7, maxTokens: 512, seed: 0 }

/** What a child does that holds a model: it talks, or it works on a task. Its memory goes with the process. */
export function playerWork(): Handlers {
  const never = new AbortController().signal
  const closers = new Closers()
  const tries = new Tries()
  const scores = new Scores()
  let open: { readonly model: string; readonly conversation: Promise<NewConversation> } | undefined
  let calls = 0

  function conversationOf(model: string, note: (text: string) => void): Promise<NewConversation> {
    if (open?.model !== model) {
      const options = { model, temperature: USUAL.temperature, maxTokens: LONGEST, seed: USUAL.seed }
      const conversation = openOneModel(options, { note, signal: never, closers })
      // one that could not be opened is tried again
      conversation.catch(() => {
        open = undefined
      })
      open = { model, conversation }
    }
    return open.conversation
  }

  return {
    chat: async (
      { model, messages, isPlain, sampling }: ChatQuery,
      tell: (part: unknown) => void,
      signal,
    ): Promise<ChatReply> => {
      const part = (told: ChatPart) => tell(told)
      const newConversation = await conversationOf(model, (note) => part({ note }))
      const began = performance.now()
      const how = { plain: isPlain, alternatives: ALTERNATIVES, sampling: argsOf(sampling) }
      const one = newConversation('playground', calls++)
      const reply = await replyTo(one, messages, how, (text) => part({ text }), signal)
      return { ...reply, seconds: (performance.now() - began) / 1000 }
    },
    score: (query: ToScore, tell: (part: unknown) => void, signal) =>
      scores.of(query, (note) => tell({ note } satisfies ChatPart), signal),
    try: (query: ToTry, tell: (part: unknown) => void, signal) =>
      tries.run(query, (note) => tell({ note } satisfies ChatPart), signal),
  }
}

function argsOf(given: Sampling = {}) {
  const { temperature, topP, topK, maxTokens, seed, repetitionPenalty } = { ...USUAL, ...given }
  return {
    temperature,
    top_p: topP,
    top_k: topK,
    max_tokens: maxTokens,
    seed,
    repetition_penalty: repetitionPenalty,
  }
}
