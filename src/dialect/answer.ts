import { AnswerReader } from './answer-reader.js'
import type { Answered, ChatModel } from './chat-model.js'
import { ownPart } from './ids.js'
import { checkParsers } from './parsers.js'

/** The call of a tool. `arguments` is the JSON text of an object. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** A piece of an answer, in the order in which the model wrote it. */
export type Part = TextPart | { readonly type: 'call'; readonly call: Call }

export interface TextPart {
  readonly type: 'reasoning' | 'text'
  readonly text: string
}

export type Finish = 'stop' | 'length' | 'tool_calls'

/** An answer as every dialect reads it, before it is written in the form of one. */
export interface Answer {
  /** No two neighbors of the same type, calls aside. */
  readonly parts: readonly Part[]
  readonly reasoning?: string
  readonly text: string
  readonly calls: readonly Call[]
  readonly finish: Finish
  /** The stop string that ended it. */
  readonly stoppedBy?: string
}

/** What is looked for in an answer. */
export interface Reading {
  readonly tools: boolean
  readonly reasoning: boolean
  readonly callId: (index: number, call: number) => string
}

/** How the answers of a reply are read. Calls have ids that the reply's own makes unique. */
export function readingOf(model: ChatModel, tools: boolean, replyId: string, prefix = 'call'): Reading {
  const own = ownPart(replyId)
  return {
    tools,
    reasoning: checkParsers(model.parsers ?? {}, tools),
    callId: (index, call) => `${prefix}_${own}_${index}_${call}`,
  }
}

export function answerOf(answered: Answered, index: number, reading: Reading): Answer {
  const reader = new AnswerReader(reading, index)
  return asAnswer([...reader.push(answered.experience.responseText ?? ''), ...reader.end()], answered)
}

/** The whole of parts that were read one after another. */
export function asAnswer(read: readonly Part[], { experience, sample }: Answered): Answer {
  const parts: Part[] = []
  for (const part of read) {
    const last = parts.at(-1)
    if (part.type !== 'call' && last?.type === part.type) {
      parts[parts.length - 1] = { type: part.type, text: last.text + part.text }
    } else parts.push(part)
  }
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part.call] : []))
  const reasoning = textOf(parts, 'reasoning')
  return {
    parts,
    text: textOf(parts, 'text'),
    calls,
    ...(reasoning === '' ? {} : { reasoning }),
    // also where a call was whole before the end: another may be torn
    finish: experience.truncateStatus !== undefined ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
    ...(typeof sample.stoppedBy === 'string' ? { stoppedBy: sample.stoppedBy } : {}),
  }
}

function textOf(parts: readonly Part[], type: 'reasoning' | 'text'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('')
}
