import type { ChatMessage } from '../../model/index.js'

const HEADING = '## Previous Attempt Analysis & Guidance'

/**
 * The same conversation with guidance in it. From the beginning: behind the rules, or before the first question where
 * there are none. From a later step: as a message of the system before the question of that step; what was said earlier
 * stays as it was.
 */
export function guided(messages: readonly ChatMessage[], guidance: string, pivot: number): ChatMessage[] {
  const first = messages[0]?.role === 'system' ? 1 : 0
  if (pivot > 0) {
    const place = first + 2 * pivot
    return place < messages.length ? messages.toSpliced(place, 0, { role: 'system', content: guidance }) : [...messages]
  }
  const [begin, ...rest] = messages
  const parts = first === 1 ? [begin.content, HEADING, guidance] : [HEADING, guidance, begin.content]
  return [{ ...begin, content: parts.join('\n\n') }, ...rest]
}
