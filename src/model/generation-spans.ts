/**
 * Some templates mark what the assistant wrote with {% generation %} … {% endgeneration %}. The template engine accepts
 * the tags and ignores them, so that they are made visible here: a marker character is written behind each tag, and the
 * marks are taken out of the rendered text again.
 */
const startMark = '\u{F8FE0}'
const endMark = '\u{F8FE1}'
const tag = /\{%[-+]?\s*(end)?generation\s*([-+]?)%\}(\n?)/g

export function hasGenerationTags(source: string): boolean {
  return source.search(tag) >= 0
}

/** The same template with marks. A tag eats the line break or blanks behind it; the mark must not come between. */
export function markGeneration(source: string): string {
  return source.replace(tag, (all, end: string | undefined, control: string, newline: string) => {
    const mark = `{{ '${end ? endMark : startMark}' ${control === '-' ? '-' : ''}}}`
    const bare = newline ? all.slice(0, -1) : all
    return bare + mark + (control === '+' ? newline : '')
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
