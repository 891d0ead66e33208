import type { RolloutModel } from '../workflow/index.js'
import type { Carried, Dialect, Recall, Recalled, ServerEvent, Wire } from './dialect.js'

/** Speaks a dialect with a model as a server does: whole or streamed, and what was said is kept for who names it. */
export class Speaking {
  readonly dialect: Dialect
  readonly model: RolloutModel
  readonly #kept = new Map<string, Recalled>()

  constructor(dialect: Dialect, model: RolloutModel) {
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

/** The JSON of an event; the events of some APIs say their type twice. */
function dataOf({ event, data }: ServerEvent): Wire[] {
  if (data === '[DONE]') return []
  const wire = JSON.parse(data) as Wire
  if (event !== undefined && event !== wire.type) throw new Error(`${event} is not ${wire.type}`)
  return [wire]
}
