/** How replies hold their action: in the last block of backticks, in a tag, in a JSON field, or anywhere. */

/** What stands in the last ``` ``` of a text. */
export function lastFence(text: string): string | undefined {
  const parts = text.split('```')
  // Between the first and the second, between the third and the fourth, …
  const last = Math.floor((parts.length - 1) / 2) * 2 - 1
  return last > 0 ? parts[last].trim() : undefined
}

/** The text of the last `"action": "…"`, as in a JSON object; the rest of the reply need not be JSON. */
export function actionField(text: string): string | undefined {
  const at = text.lastIndexOf('"action"')
  return at < 0 ? undefined : /^"action"\s*:\s*"([^"\n]{0,80})"/.exec(text.slice(at, at + 200))?.[1].trim()
}

/** The last word, number or sign of a text that is one of the names. */
export function lastNamed(text: string, names: ReadonlySet<string>): string | undefined {
  return text
    .toLowerCase()
    .match(/[a-z]+|\d+|[^\sa-z\d]/g)
    ?.findLast((word) => names.has(word))
}

/** What stands in the last `<tag>…</tag>` of a text. */
export function lastTag(text: string, tag: string): string | undefined {
  const open = `<${tag}>`
  const end = text.lastIndexOf(`</${tag}>`)
  const start = end < 1 ? -1 : text.lastIndexOf(open, end - 1)
  return start < 0 ? undefined : text.slice(start + open.length, end).trim()
}

/** What the first `<tag>…</tag>` from a place on holds, and where it ends. */
export function firstTag(text: string, tag: string, from = 0): { text: string; end: number } | undefined {
  const open = `<${tag}>`
  const start = text.indexOf(open, from)
  const end = start < 0 ? -1 : text.indexOf(`</${tag}>`, start)
  if (end < 0) return undefined
  return { text: text.slice(start + open.length, end).trim(), end: end + open.length + 1 }
}
