import type { Reading } from '../answer.js'
import { type BlockEvent, Blocks } from '../blocks.js'
import type { ChatModel } from '../chat-model.js'
import type { Answering, Head, ServerEvent, Wire } from '../dialect.js'
import { partStream } from '../part-stream.js'
import { tell } from '../said.js'
import { ItemIds } from './item-ids.js'
import {
  contentWire,
  endedResponse,
  itemWire,
  NOTHING,
  responseHead,
  type Status,
  statusOf,
  wantsSummary,
} from './reply.js'
import type { ResponsesAsked } from './request.js'
import { type ClientCall, clientCall } from './tools.js'

type Event = Wire & { readonly type: string }

/** The reply as events while it is sampled. */
export async function* responseEvents(
  head: Head,
  model: ChatModel,
  answering: Answering,
  reading: Reading,
  request: ResponsesAsked,
): AsyncGenerator<ServerEvent> {
  let sequence_number = 0
  const event = ({ type, ...rest }: Event): ServerEvent => ({
    event: type,
    data: JSON.stringify({ type, sequence_number: sequence_number++, ...rest }),
  })
  const blocks = new Blocks()
  const items = new Items(head.id, request)
  for await (const streamed of partStream(model, answering, reading, request.args)) {
    if (sequence_number === 0) {
      const response = responseHead(head, request)
      yield event({ type: 'response.created', response })
      yield event({ type: 'response.in_progress', response })
    }
    if ('part' in streamed) {
      for (const one of blocks.push(streamed.part)) yield* items.events(one, 'completed').map(event)
      continue
    }
    const { answer, answered } = streamed
    const rest = answer.parts.length > 0 ? [] : blocks.push(NOTHING)
    for (const one of [...rest, ...blocks.end()]) yield* items.events(one, statusOf(answer)).map(event)
    tell(model, head, answered, answer, request.messages.at(-1))
    const response = endedResponse(head, request, answer, answered, items.output)
    yield event({ type: `response.${statusOf(answer)}`, response })
  }
}

/** The items of an output as they come about. */
class Items {
  readonly output: Wire[] = []
  readonly #ids: ItemIds
  readonly #request: ResponsesAsked
  #id = ''

  constructor(replyId: string, request: ResponsesAsked) {
    this.#ids = new ItemIds(replyId)
    this.#request = request
  }

  events(block: BlockEvent, last: Status): Event[] {
    const { index: output_index, part } = block
    const summary = wantsSummary(this.#request)
    if (block.type === 'begin') this.#id = this.#ids.next(part)
    const call = part.type === 'call' ? clientCall(part.call, this.#request.clientTools) : undefined
    const names = part.type === 'call' ? callNames(call!) : textNames(part.type, summary)
    const inner = (type: string, more: Wire): Event => ({ type, item_id: this.#id, output_index, ...names.at, ...more })
    // a call comes in one piece
    if (block.type === 'delta') return [inner(names.delta, { delta: call?.text ?? block.text, ...names.more })]
    const item = itemWire(part, this.#id, block.type === 'begin' ? 'in_progress' : last, this.#request)
    const content = part.type === 'call' ? {} : { part: contentWire(part.type, part.text, summary) }
    if (block.type === 'begin') {
      const added = { type: 'response.output_item.added', output_index, item }
      return [added, ...names.begin.map((type) => inner(type, content))]
    }
    this.output.push(item)
    const whole = part.type === 'call' ? { ...call!.named, [call!.key]: call!.text } : { text: part.text }
    return [
      inner(names.done, { ...whole, ...names.more }),
      ...names.end.map((type) => inner(type, content)),
      { type: 'response.output_item.done', output_index, item },
    ]
  }
}

/** What the events inside of an item are called. */
interface Names {
  readonly at: Wire
  readonly begin: readonly string[]
  readonly delta: string
  readonly done: string
  readonly end: readonly string[]
  readonly more: Wire
}

function callNames({ type }: ClientCall): Names {
  const events = `response.${type === 'function_call' ? 'function_call_arguments' : 'custom_tool_call_input'}`
  return { at: {}, begin: [], delta: `${events}.delta`, done: `${events}.done`, end: [], more: {} }
}

function textNames(type: 'text' | 'reasoning', summary: boolean): Names {
  const summed = type === 'reasoning' && summary
  const text = type === 'text' ? 'output_text' : summed ? 'reasoning_summary_text' : 'reasoning_text'
  const part = summed ? 'reasoning_summary_part' : 'content_part'
  return {
    at: summed ? { summary_index: 0 } : { content_index: 0 },
    begin: [`response.${part}.added`],
    delta: `response.${text}.delta`,
    done: `response.${text}.done`,
    end: [`response.${part}.done`],
    more: type === 'text' ? { logprobs: [] } : {},
  }
}
