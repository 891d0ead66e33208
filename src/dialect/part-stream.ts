import { TrinityError } from '../base/error.js'
import { type Answer, asAnswer, type Part, type Reading } from './answer.js'
import { AnswerReader } from './answer-reader.js'
import type { SamplingArgs } from './chat-args.js'
import type { Answered, ChatModel } from './chat-model.js'
import type { Answering } from './dialect.js'
import { TextGate } from './text-gate.js'

/** A piece of the answer with this index, or at its end the whole of it. */
export type Streamed =
  | { readonly index: number; readonly part: Part }
  | { readonly index: number; readonly answer: Answer; readonly answered: Answered }

/** Stop strings that end an answer and are no part of its text. */
function hiddenStops(args: SamplingArgs, { defaults = {} }: ChatModel): readonly string[] {
  const shown = args.include_stop_str_in_output ?? defaults.include_stop_str_in_output
  return shown ? [] : [args.stop ?? defaults.stop ?? []].flat()
}

/**
 * The parts of answers as they are sampled; put together they are the answers as read at the end. There is always a first
 * one or an error, so that a server knows whether it may say 200. Leaving the loop early stops the sampling.
 */
export async function* partStream(
  model: ChatModel,
  answering: Answering,
  reading: Reading,
  args: SamplingArgs,
  controller = new AbortController(),
): AsyncGenerator<Streamed> {
  const stops = hiddenStops(args, model)
  const choices = Array.from({ length: args.n ?? 1 }, (_, index) => new Choice(model, reading, stops, index))
  const queue: Streamed[] = []
  let wake = () => {}
  let outcome: { answers: Answered[] } | { error: unknown } | undefined
  const settle = (result: typeof outcome) => {
    outcome = result
    wake()
  }
  const running = answering((index, token) => {
    for (const part of choices[index].push(token)) enqueue(queue, index, part)
    if (queue.length > 0) wake()
  }, controller.signal).then(
    (answers) => settle({ answers }),
    (error: unknown) => settle({ error }),
  )
  try {
    for (;;) {
      for (let next = queue.shift(); next; next = queue.shift()) yield next
      if (outcome) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (queue.length > 0 || outcome) resolve()
      })
    }
    if ('error' in outcome) throw outcome.error
    const { answers } = outcome
    for (const [index, answered] of answers.entries()) {
      for (const part of choices[index].end(answered)) yield { index, part }
      yield { index, answer: asAnswer(choices[index].parts, answered), answered }
    }
  } finally {
    if (!outcome) controller.abort()
    await running
  }
}

/** What a reader has not taken yet becomes one part, where it can. */
function enqueue(queue: Streamed[], index: number, part: Part): void {
  const last = queue.at(-1)
  if (part.type !== 'call' && last?.index === index && 'part' in last && last.part.type === part.type) {
    queue[queue.length - 1] = { index, part: { type: part.type, text: last.part.text + part.text } }
  } else queue.push({ index, part })
}

/** One of the answers, token by token. */
class Choice {
  readonly parts: Part[] = []
  readonly #decoder
  readonly #gate: TextGate
  readonly #reader: AnswerReader
  #read = ''

  constructor(model: ChatModel, reading: Reading, stops: readonly string[], index: number) {
    this.#decoder = model.tokenizer.stream()
    this.#gate = new TextGate(stops)
    this.#reader = new AnswerReader(reading, index)
  }

  push(token: number): Part[] {
    return this.#add(this.#gate.push(this.#decoder.push(token)))
  }

  /** Text that was held back and turned out to belong to the answer. */
  end({ experience }: Answered): Part[] {
    const whole = experience.responseText ?? ''
    if (!whole.startsWith(this.#read)) {
      throw new TrinityError('engine/aborted', 'the answer was begun again while it was streamed', {
        hint: 'send the request again: new weights cut the first answer off',
      })
    }
    const rest = this.#add(whole.slice(this.#read.length))
    const last = this.#reader.end()
    this.parts.push(...last)
    return [...rest, ...last]
  }

  #add(text: string): Part[] {
    this.#read += text
    const parts = this.#reader.push(text)
    this.parts.push(...parts)
    return parts
  }
}
