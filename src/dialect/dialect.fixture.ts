import { text } from '../../test/support/workflow-kit.js'
import type { Sample, SampleModel } from '../engine/contract.js'
import type { ChatArgs } from './chat-args.js'
import type { ChatModel } from './chat-model.js'
import type { Carried, Dialect, Recall, Recalled, ServerEvent, Wire } from './dialect.js'

/** Speaks a dialect with a model as a server does: whole or streamed, and what was said is kept for who names it. */
export class Speaking<Model extends ChatModel> {
  readonly dialect: Dialect
  readonly model: Model
  readonly #kept = new Map<string, Recalled>()

  constructor(dialect: Dialect, model: Model) {
    this.dialect = dialect
    this.model = model
  }

  readonly recall: Recall = (id) => this.#kept.get(id)

  async ask(body: Wire, id = this.dialect.replyId()): Promise<{ reply: Wire; events: Wire[]; said: Wire; id: string }> {
    const asked = this.dialect.read(body, this.recall)
    const head = { id, created: 1, model: asked.model ?? this.model.name }
    const signal = new AbortController().signal
    let answers = asked.stream ? undefined : await asked.sample(this.model, undefined, signal)
    const events: Wire[] = []
    const stream = asked.events(head, this.model, async (onText, signal) => {
      answers = await asked.sample(this.model, onText, signal)
      return answers
    })
    if (asked.stream) for await (const event of stream) events.push(...dataOf(event))
    const reply = asked.stream ? {} : asked.reply(head, answers!, this.model)
    const said = asked.said(answers![0], head, 0, this.model)
    const carried: Carried | undefined = asked.carried
    this.#kept.set(id, { messages: [...(asked.messages ?? []), said], carried })
    return { reply, events, said, id }
  }
}

/** Lets a scripted sampler obey stop strings, which the mock engine does not know. */
export function obeyingStops(sampler: SampleModel): SampleModel {
  const whole = sampler.sample.bind(sampler)
  sampler.sample = async (request, call, onToken) => {
    const samples = (await whole(request, call)).map((sample) => stopped(sample, request.params.stop ?? []))
    for (const [i, { tokens, logprobs }] of samples.entries()) {
      for (const [j, token] of tokens.entries()) onToken?.(i, token, logprobs[j])
    }
    return samples
  }
  return sampler
}

function stopped(sample: Sample, stops: readonly string[]): Sample {
  for (let length = 1; length <= sample.tokens.length; length++) {
    const tokens = sample.tokens.slice(0, length)
    const stoppedBy = stops.find((stop) => text.tokenizer.decode(tokens).endsWith(stop))
    if (stoppedBy) return { ...sample, tokens, logprobs: sample.logprobs.slice(0, length), finish: 'stop', stoppedBy }
  }
  return sample
}

/** What a body asks of a model. */
export async function askedOf(dialect: Dialect, body: Wire, recall: Recall = () => undefined) {
  let args: ChatArgs = {}
  let prompt: unknown
  const seen = async (given: unknown, more: ChatArgs = {}) => {
    prompt = given
    args = more
    return []
  }
  const asked = dialect.read(body, recall)
  const { tokenizer } = text
  const model: ChatModel = { name: 'm', tokenizer, answers: seen, complete: seen, remember() {} }
  await asked.sample(model, undefined, new AbortController().signal)
  return { asked, args, prompt }
}

/** The JSON of an event; the events of some APIs say their type twice. */
function dataOf({ event, data }: ServerEvent): Wire[] {
  if (data === '[DONE]') return []
  const wire = JSON.parse(data) as Wire
  if (event !== undefined && event !== wire.type) throw new Error(`${event} is not ${wire.type}`)
  return [wire]
}
