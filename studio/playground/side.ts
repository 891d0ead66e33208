import { type Signal, signal } from '@preact/signals'
import type { ChatPart, ChatReply, Sampling } from '../../src/studio/api.js'
import { postLines, Refusal, refusalOf } from '../base/server.js'

/** Something that was said. */
export interface Said {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Of an answer that has come to its end. */
  readonly reply?: ChatReply
}

export interface Asking {
  readonly system: string
  readonly isPlain: boolean
  readonly sampling: Sampling
}

/** One model, and the conversation with it. */
export class Side {
  readonly model: Signal<string>
  readonly said = signal<readonly Said[]>([])
  /** What it is busy with; undefined: it waits for a question. */
  readonly busy = signal<string | undefined>(undefined)
  readonly problem = signal<Refusal | undefined>(undefined)
  #abort = new AbortController()

  constructor(model = '') {
    this.model = signal(model)
  }

  /** A question that was not answered has not been asked. */
  async ask(question: string, { system, isPlain, sampling }: Asking): Promise<void> {
    if (this.model.peek() === '' || this.busy.peek() !== undefined) return
    const before = this.said.peek()
    const asked = [...before, { role: 'user', text: question } as const]
    this.#abort = new AbortController()
    this.problem.value = undefined
    this.said.value = asked
    this.busy.value = 'opening the model'
    let text = ''
    const hear = (part: ChatPart) => {
      if (part.note !== undefined) this.busy.value = part.note
      if (part.text === undefined) return
      text += part.text
      this.busy.value = 'answering'
      this.said.value = [...asked, { role: 'assistant', text }]
    }
    const rules = system === '' || isPlain ? [] : [{ role: 'system', content: system }]
    const messages = [...rules, ...asked.map(({ role, text: content }) => ({ role, content }))]
    try {
      const body = { model: this.model.peek(), messages, isPlain, sampling }
      const reply = await postLines<ChatReply, ChatPart>('chat', body, hear, this.#abort.signal)
      if (reply.end === 'full') throw new Refusal(0, 'This is longer than the model can read.', 'Begin again.')
      this.said.value = [...asked, { role: 'assistant', text: reply.text, reply }]
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = refusalOf(error)
      this.said.value = before
    } finally {
      this.busy.value = undefined
    }
  }

  stop(): void {
    this.#abort.abort()
  }

  reset(): void {
    this.stop()
    this.said.value = []
    this.problem.value = undefined
  }
}

export const sides = [new Side(), new Side()] as const
