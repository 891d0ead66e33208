import type { ChatArgs } from '../dialect/chat-args.js'
import type { Said } from '../dialect/chat-model.js'
import { Verbatim } from '../dialect/verbatim.js'
import type { Conversation } from '../experience/conversation.js'
import type { ChatMessage } from '../model/index.js'
import { type ModelText, templateOf } from './text.js'

/**
 * Messages as prompts in which the model's own answers stand as it wrote them. Clients send back what they made of an
 * answer: tool calls taken out of it, thoughts left out. So that a later turn goes on from the tokens that were sampled,
 * it is remembered how each answer was written.
 */
export class Wording {
  readonly #text: ModelText
  readonly #conversation: Conversation
  readonly #verbatim = new Verbatim()

  constructor(text: ModelText, conversation: Conversation) {
    this.#text = text
    this.#conversation = conversation
  }

  /** Tells that `message` is how `raw` reads to others. */
  remember(message: Said, raw: string): void {
    this.#verbatim.set(message, raw)
  }

  /** The text of the prompt that these messages make. */
  render(messages: readonly ChatMessage[], args: ChatArgs): string {
    const template = templateOf(this.#text)
    const options = { tools: args.tools, variables: args.chat_template_kwargs }
    const isBegun = messages.at(-1)?.role === 'assistant'
    const last = isBegun
      ? { continueFinalMessage: true }
      : { enableThinking: args.enable_thinking ?? undefined, addGenerationPrompt: true }
    const guess = this.#guessed(messages)
    const guessed = guess && template.render(guess.said, { ...options, ...last })
    if (guessed !== undefined && this.#conversation.follows(guessed, guess!.turns)) return guessed
    const said: ChatMessage[] = []
    for (const message of messages) {
      const begin = (next: ChatMessage) => template.render([...said, next], { ...options, continueFinalMessage: true })
      said.push(message.role === 'assistant' ? this.#asWritten(message, begin) : message)
    }
    return template.render(said, { ...options, ...last })
  }

  /**
   * Messages as the model wrote them, where several of its answers read the same and were said at different turns of the
   * conversation. Undefined: no two answers read the same.
   */
  #guessed(messages: readonly ChatMessage[]): { said: ChatMessage[]; turns: number } | undefined {
    let turns = 0
    let isDoubtful = false
    const said = messages.map((message) => {
      const written = message.role === 'assistant' ? this.#verbatim.get(message) : []
      if (written.length === 0) return message
      const turn = turns++
      isDoubtful ||= written.length > 1
      if (written.length === 1) return { role: 'assistant', content: written[0] }
      // One may be the beginning of another.
      const [longest = written[0]] = written
        .filter((raw) => this.#conversation.wrote(turn, raw))
        .sort((a, b) => b.length - a.length)
      return { role: 'assistant', content: longest }
    })
    return isDoubtful ? { said, turns } : undefined
  }

  /** A message as the model wrote it. Where several answers read the same, the one that was said at this place. */
  #asWritten(message: ChatMessage, begin: (next: ChatMessage) => string): ChatMessage {
    const written = this.#verbatim.get(message).map((content) => ({ role: 'assistant', content }))
    if (written.length < 2) return written[0] ?? message
    const here = (one: ChatMessage) => {
      try {
        return this.#conversation.begins(begin(one))
      } catch {
        return false // the template does not keep it as it is
      }
    }
    return written.find(here) ?? written[0]
  }
}
