import type { ChatMessage } from '../../model/index.js'
import type { Part } from '../answer.js'
import type { Recall } from '../dialect.js'
import { ownPart } from '../ids.js'

const PREFIX = { text: 'msg', reasoning: 'rs', call: 'fc' } as const

/** Gives the items of a reply their ids: the i-th of its kind, so that the reply is found by any of them. */
export class ItemIds {
  readonly #own: string
  readonly #counts = { text: 0, reasoning: 0, call: 0 }

  constructor(replyId: string) {
    this.#own = ownPart(replyId)
  }

  next({ type }: Part): string {
    return `${PREFIX[type]}_${this.#own}_${this.#counts[type]++}`
  }
}

/** What an item held that a client only names: its part of the assistant's message. */
export function itemOf(id: string, recall: Recall): ChatMessage | undefined {
  const [, kind, own, at] = /^(msg|rs|fc)_(.+)_(\d+)$/.exec(id) ?? []
  const said = own === undefined ? undefined : recall(`resp_${own}`)?.messages.at(-1)
  if (!said) return undefined
  const role = 'assistant'
  if (kind === 'rs') return { role, content: '', reasoning_content: at === '0' ? said.reasoning_content : '' }
  // a message keeps its texts together: the first item stands for all of them
  if (kind === 'msg') return { role, content: at === '0' ? said.content : '' }
  const call = said.tool_calls?.[Number(at)]
  return call && { role, content: null, tool_calls: [call] }
}
