import type { ChatMessage } from '../model/index.js'
import type { NewConversation } from '../run/one-model.js'
import type { RolloutModel } from '../workflow/index.js'
import { type Reply, type ReplyOptions, replyTo } from './reply.js'

export interface TalkOptions extends Omit<ReplyOptions, 'sampling'> {
  readonly system?: string
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

  /** Whether anything has been said. */
  get hasBegun(): boolean {
    return this.#said.length > 0
  }

  /** `onText` hears the reply as it comes. What does not come to its end has not been said. */
  async say(text: string, onText: (text: string) => void = () => {}, signal?: AbortSignal): Promise<Reply> {
    const said = [...this.#said, { role: 'user', content: text }]
    const { plain } = this.#options
    const rules = this.#system === undefined || plain ? [] : [{ role: 'system', content: this.#system }]
    const how = { ...this.#options, sampling: { temperature: this.temperature } }
    const reply = await replyTo(this.#model, [...rules, ...said], how, onText, signal)
    if (reply.end !== 'full') this.#said = [...said, { role: 'assistant', content: reply.text }]
    return reply
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
}
