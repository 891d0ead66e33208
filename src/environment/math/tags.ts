import type { Transition } from '../environment.js'
import { badFormat, type ReplyArgs } from './answer-world.js'

/** What a reply in tags holds. */
export interface TaggedReply {
  readonly thinks: boolean
  /** Absent: there is none. */
  readonly answer?: string
}

/** The first `<answer>` behind the thinking, capitals or not; else the line behind `Answer:`. */
export function readTags(reply: string): TaggedReply {
  const thought = between(reply, /<think>/gi, /<\/think>/gi, 0)
  const rest = thought?.end ?? 0
  const tagged = between(reply, /<answer>/gi, /<\/answer>/gi, rest)
  const line = tagged ? undefined : /^[ \t]*answer:[ \t]*(\S.*)$/im.exec(reply.slice(rest))?.[1]
  return { thinks: thought !== undefined, answer: tagged?.text.trim() || line?.trim() || undefined }
}

/** The answer in tags; or what a reply without them comes to. */
export function taggedAnswer(reply: string, { strict, end_on_bad_format }: ReplyArgs): string | Transition {
  const { thinks, answer } = readTags(reply)
  if (!strict) return answer ?? reply
  if (answer !== undefined && thinks) return answer
  const lacks = answer === undefined ? 'has nothing between <answer> and </answer>' : 'does not <think>'
  return badFormat(`Your reply ${lacks}, so it cannot be judged.`, end_on_bad_format)
}

function between(text: string, open: RegExp, close: RegExp, from: number): { text: string; end: number } | undefined {
  open.lastIndex = from
  const begin = open.exec(text)
  if (!begin) return undefined
  close.lastIndex = begin.index + begin[0].length
  const end = close.exec(text)
  return end
    ? { text: text.slice(begin.index + begin[0].length, end.index), end: end.index + end[0].length }
    : undefined
}
