import type { ChatMessage, ChatTemplate, RenderOptions } from './chat-template.js'

/** Stands for what the assistant said; no template and no text has it. */
const stand = '\u{F8FE2}'

/**
 * Where an assistant message lies in a rendered chat: [start, end) characters, from behind the header that a generation
 * prompt writes to behind the end of the turn. Found by putting another text in its place: what does not change around it
 * is not the assistant's. That works where a template writes a message differently once others follow it (Qwen3 leaves out
 * an empty thought), so that a shorter chat is no prefix of the longer one. Undefined where it cannot be told.
 */
export function turnSpan(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  index: number,
  options: RenderOptions,
): [number, number] | undefined {
  const before = messages.slice(0, index)
  if (before.length === 0) return undefined
  const other = { role: messages[index].role, content: stand }
  const text = template.render(messages, options)
  const [head, tail, ...more] = template.render([...before, other, ...messages.slice(index + 1)], options).split(stand)
  if (tail === undefined || more.length > 0 || !text.endsWith(tail)) return undefined
  const closing = template.render([...before, other], options).split(stand)[1]
  const alone = template.render(before, options)
  const prompt = template.render(before, { ...options, addGenerationPrompt: true })
  if (closing === undefined || !tail.startsWith(closing) || !prompt.startsWith(alone)) return undefined
  const header = prompt.slice(alone.length)
  const at = header === '' ? -1 : head.lastIndexOf(header)
  const start = at + header.length
  const end = text.length - tail.length + closing.length
  // the header must be this turn's own: nothing but a thought may stand between it and the text
  if (at < 0 || start > end || text.slice(0, start) !== head.slice(0, start)) return undefined
  return [start, end]
}
