import { callText, finishOf, type HostedAnswer } from './answer.js'
import type { Chunk, TokenLogprob } from './wire.js'

/** Answers as they arrive, piece by piece. */
export class StreamedAnswers {
  readonly #answers = new Map<number, Arriving>()
  readonly #onText: (index: number, text: string) => void

  constructor(onText: (index: number, text: string) => void) {
    this.#onText = onText
  }

  push({ choices }: Chunk): void {
    for (const { index, delta, finish_reason, logprobs } of choices) {
      const one = this.#at(index)
      const text = delta?.content || delta?.refusal || ''
      if (text !== '') this.#add(index, one, text)
      for (const { index: at, function: called } of delta?.tool_calls ?? []) {
        // without a number, what has a name begins a call
        const call = at ?? (called?.name ? one.calls.length : one.calls.length - 1)
        one.calls[call] ??= { name: '', arguments: '' }
        one.calls[call].name += called?.name ?? ''
        one.calls[call].arguments += called?.arguments ?? ''
      }
      one.logprobs.push(...(logprobs?.content ?? []))
      if (!finish_reason) continue
      one.finish = finish_reason
      for (const call of one.calls.splice(0).filter(Boolean)) {
        this.#add(index, one, `${one.text === '' ? '' : '\n'}${callText(call.name, call.arguments)}`)
      }
    }
  }

  /** Whether `n` answers have come to their end. */
  isWhole(n: number): boolean {
    const all = [...this.#answers.values()]
    return all.length >= n && all.every(({ finish }) => finish !== undefined)
  }

  /** In the order of their numbers, as far as they came. */
  answers(): HostedAnswer[] {
    return [...this.#answers.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, { text, finish, logprobs }]) => ({
        text,
        finish: finish === undefined ? 'abort' : finishOf(finish),
        logprobs: logprobs.length > 0 ? logprobs : undefined,
      }))
  }

  #add(index: number, one: Arriving, text: string): void {
    one.text += text
    this.#onText(index, text)
  }

  #at(index: number): Arriving {
    const known = this.#answers.get(index)
    if (known) return known
    const fresh: Arriving = { text: '', calls: [], logprobs: [] }
    this.#answers.set(index, fresh)
    return fresh
  }
}

interface Arriving {
  text: string
  finish?: string
  readonly calls: { name: string; arguments: string }[]
  readonly logprobs: TokenLogprob[]
}
