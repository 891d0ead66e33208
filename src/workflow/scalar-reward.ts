import { TrinityError } from '../base/error.js'
import { timeSlice } from '../base/time-slice.js'
import { nextCall } from '../engine/calls.js'
import type { RewardModel } from '../engine/contract.js'
import type { ChatMessage } from '../model/index.js'
import { type ModelText, templateOf } from './text.js'

/** A reward model with a scalar head, bound to one run. */
export class ScalarReward {
  readonly #model: RewardModel
  readonly #text: ModelText
  readonly #signal: AbortSignal
  readonly #deadlineMs: number

  constructor(model: RewardModel, text: ModelText, signal: AbortSignal, deadlineMs: number) {
    this.#model = model
    this.#text = text
    this.#signal = signal
    this.#deadlineMs = deadlineMs
  }

  /** One number per conversation; each is a whole one, with the answer as its last message. */
  async ofMessages(conversations: readonly (readonly ChatMessage[])[]): Promise<number[]> {
    await timeSlice()
    const { tokenizer } = this.#text
    const template = templateOf(this.#text)
    return this.ofTokens(conversations.map((messages) => tokenizer.encode(template.render(messages))))
  }

  async ofTokens(rows: readonly Int32Array[]): Promise<number[]> {
    const { maxModelLen } = this.#model.info
    const long = rows.findIndex(({ length }) => length > maxModelLen)
    if (long >= 0) {
      const text = `a conversation of ${rows[long].length} tokens is too long for the reward model (${maxModelLen})`
      throw new TrinityError('reward/too-long', text, { hint: 'shorten the responses, or use another reward model' })
    }
    const call = nextCall(this.#signal, this.#deadlineMs)
    return [...(await this.#model.reward(rows, call))]
  }
}
