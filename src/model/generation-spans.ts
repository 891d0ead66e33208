/**
 * Some templates mark what the assistant wrote with {% generation %} … {% endgeneration %}. The template engine drops the
 * tags before it looks at blanks and line breaks, so that text around them changes; here they become a block that is
 * always taken, with a marker character behind each tag. The marks are taken out of the rendered text again.
 */
const startMark = '\u{F8FE0}'
const endMark = '\u{F8FE1}'
const tag = /\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}(\n?)/g

export function hasGenerationTags(source: string): boolean {
  return source.search(tag) >= 0
}

/** A tag eats the line break or blanks behind it: the mark must not come between. */
export function markGeneration(source: string): string {
  return source.replace(tag, (_, before: string, end: string | undefined, after: string, newline: string) => {
    const block = `{%${before} ${end ? 'endif' : 'if true'} ${after}%}`
    const mark = `{{ '${end ? endMark : startMark}' ${after === '-' ? '-' : ''}}}`
    return block + mark + (after === '+' ? newline : '')
  })
}

/** The text without marks, and what lay between them as [start, end) character positions. */
export function takeMarks(marked: string): { text: string; spans: [number, number][] } {
  const spans: [number, number][] = []
  let text = ''
  let start = -1
  for (const part of marked.split(/(\u{F8FE0}|\u{F8FE1})/u)) {
    if (part === startMark) start = text.length
    else if (part === endMark) {
      if (start >= 0) spans.push([start, text.length])
      start = -1
    } else text += part
  }
  return { text, spans }
}
