import { type Answer, answerOf, type Part, type Reading } from '../answer.js'
import type { Answered, ChatModel } from '../chat-model.js'
import type { Head, Wire } from '../dialect.js'
import { tell } from '../said.js'
import { ItemIds } from './item-ids.js'
import type { ResponsesAsked } from './request.js'
import { clientCall } from './tools.js'

/** An answer without a word is still an item, or the turn is missing when the items come back. */
export const NOTHING: Part = { type: 'text', text: '' }

export type Status = 'in_progress' | 'completed' | 'incomplete'

/** The reply as a whole. The model is told how its answer reads. */
export function responseReply(
  head: Head,
  [answered]: readonly Answered[],
  model: ChatModel,
  reading: Reading,
  request: ResponsesAsked,
): Wire {
  const answer = answerOf(answered, 0, reading)
  tell(model, head, answered, answer, request.messages.at(-1))
  const ids = new ItemIds(head.id)
  const parts = answer.parts.length > 0 ? answer.parts : [NOTHING]
  const last = parts.length - 1
  const output = parts.map((part, i) => {
    return itemWire(part, ids.next(part), i === last ? statusOf(answer) : 'completed', request)
  })
  return endedResponse(head, request, answer, answered, output)
}

export function endedResponse(
  head: Head,
  request: ResponsesAsked,
  answer: Answer,
  { promptTokens, sample }: Answered,
  output: readonly Wire[],
): Wire {
  return {
    ...responseHead(head, request),
    status: statusOf(answer),
    incomplete_details: answer.finish === 'length' ? { reason: 'max_output_tokens' } : null,
    output,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: sample.cachedTokens },
      output_tokens: sample.tokens.length,
      // reasoning is not counted apart
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + sample.tokens.length,
    },
  }
}

/** What is known of a reply before anything is sampled: what was asked for. */
export function responseHead({ id, created, model }: Head, { given }: ResponsesAsked): Wire {
  return {
    id,
    object: 'response',
    created_at: created,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: given.instructions ?? null,
    max_output_tokens: given.max_output_tokens ?? null,
    metadata: given.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: given.parallel_tool_calls ?? true,
    previous_response_id: given.previous_response_id ?? null,
    reasoning: { effort: given.reasoning?.effort ?? null, summary: given.reasoning?.summary ?? null },
    store: given.store ?? true,
    temperature: given.temperature ?? 1,
    text: { format: { type: 'text' }, ...given.text },
    tool_choice: given.tool_choice ?? 'auto',
    tools: given.tools ?? [],
    top_p: given.top_p ?? 1,
    truncation: given.truncation ?? 'disabled',
    usage: null,
    user: given.user ?? null,
  }
}

export function statusOf({ finish }: Answer): Status {
  return finish === 'length' ? 'incomplete' : 'completed'
}

/** Where a summary of the reasoning is asked for, all of it is given in its place. */
export function wantsSummary({ given: { reasoning } }: ResponsesAsked): boolean {
  return Boolean(reasoning?.summary ?? reasoning?.generate_summary)
}

/** An item of the output; while it is in progress, without its content. */
export function itemWire(part: Part, id: string, status: Status, request: ResponsesAsked): Wire {
  const summary = wantsSummary(request)
  const done = status !== 'in_progress'
  if (part.type === 'call') {
    const { type, named, key, text } = clientCall(part.call, request.clientTools)
    return { id, type, status, call_id: part.call.id, ...named, [key]: done ? text : '' }
  }
  const content = done ? [contentWire(part.type, part.text, summary)] : []
  if (part.type === 'text') return { id, type: 'message', status, role: 'assistant', content }
  return { id, type: 'reasoning', status, summary: summary ? content : [], ...(summary ? {} : { content }) }
}

export function contentWire(type: 'text' | 'reasoning', text: string, summary: boolean): Wire {
  if (type === 'text') return { type: 'output_text', text, annotations: [], logprobs: [] }
  return { type: summary ? 'summary_text' : 'reasoning_text', text }
}
