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
