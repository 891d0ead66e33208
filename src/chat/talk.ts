import type { Answered } from '../dialect/chat-model.js'
import { type ChatMessage, DecodeStream } from '../model/index.js'
import type { NewConversation } from '../run/one-model.js'
import type { RolloutModel } from '../workflow/index.js'
import { type SpokenToken, spokenTokens } from './spoken-token.js'

export interface TalkOptions {
  readonly system?: string
  /** No chat: the model goes on with the text. */
  readonly plain?: boolean
  /** So many of the likeliest tokens beside each that was drawn. */
  readonly alternatives?: number
}

export interface Reply {
  readonly text: string
  /** Only where alternatives were asked for. */
  readonly tokens: readonly SpokenToken[]
  /** `full`: what was said does not fit into the model any more, and was not said. */
  readonly end: 'stop' | 'length' | 'full'
}

/** A conversation with one model. */
export class Talk {
  readonly name: string
  temperature: number | undefined
  readonly #newConversation: NewConversation
  readonly #options: TalkOptions
  #system: string | undefined
  #model: RolloutModel
  #said: ChatMessage[] = []
  #begun = 0

  constructor(name: string, newConversation: NewConversation, options: TalkOptions = {}) {
    this.name = name
    this.#newConversation = newConversation
    this.#options = options
    this.#system = options.system
    this.#model = newConversation('chat', 0)
  }

  /** `onText` hears the reply as it comes. What does not come to its end has not been said. */
  async say(text: string, onText: (text: string) => void = () => {}, signal?: AbortSignal): Promise<Reply> {
    const said = [...this.#said, { role: 'user', content: text }]
    const words = new DecodeStream(this.#model.tokenizer)
    const heard = (_: number, token: number) => onText(words.push(token))
    const [answer] = await this.#answers(said, heard, signal)
    const { truncateStatus, responseText = '' } = answer.experience
    if (truncateStatus === 'prompt_truncated') return { text: '', tokens: [], end: 'full' }
    onText(words.end())
    this.#said = [...said, { role: 'assistant', content: responseText }]
    const { alternatives } = this.#options
    const tokens = alternatives === undefined ? [] : spokenTokens(this.#model.tokenizer, answer.sample, alternatives)
    return { text: responseText, tokens, end: truncateStatus === 'response_truncated' ? 'length' : 'stop' }
  }

  /** Forgets everything, with other rules from now on if some are given. */
  reset(system = this.#system): void {
    this.#system = system
    this.#said = []
    this.#model = this.#newConversation('chat', ++this.#begun)
  }

  /** Takes the last question and its answer back. False: there is none. */
  undo(): boolean {
    return this.#said.splice(-2).length > 0
  }

  #answers(
    said: readonly ChatMessage[],
    heard: (index: number, token: number) => void,
    signal?: AbortSignal,
  ): Promise<Answered[]> {
    const { plain, alternatives } = this.#options
    // the one that is drawn may be among them
    const args = { temperature: this.temperature, logprobs: alternatives && alternatives + 1 }
    if (plain) {
      const text = said.map(({ content }) => content).join('')
      return this.#model.complete(text, args, heard, signal)
    }
    const rules = this.#system === undefined ? [] : [{ role: 'system', content: this.#system }]
    return this.#model.answers([...rules, ...said], args, heard, signal)
  }
}
