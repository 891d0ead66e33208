/** A text split at its `${...}`; `\${` is a literal `${`. */
export type Part = { readonly text: string } | { readonly code: string }

export class TemplateError extends Error {}

export function hasTemplate(text: string): boolean {
  return text.includes('${')
}

export function parseTemplate(text: string): Part[] {
  const parts: Part[] = []
  let literal = ''
  let i = 0
  while (i < text.length) {
    const start = text.indexOf('${', i)
    if (start < 0) break
    let slashes = 0
    while (start - slashes > i && text[start - slashes - 1] === '\\') slashes++
    literal += text.slice(i, start - slashes) + '\\'.repeat(slashes >> 1)
    if (slashes % 2 === 1) {
      literal += '${'
      i = start + 2
      continue
    }
    const end = closing(text, start + 2)
    if (end < 0) throw new TemplateError("'${' without a closing '}'")
    if (literal !== '') parts.push({ text: literal })
    literal = ''
    parts.push({ code: text.slice(start + 2, end) })
    i = end + 1
  }
  literal += text.slice(i)
  if (literal !== '' || parts.length === 0) parts.push({ text: literal })
  return parts
}

/** Writes a text so that reading it gives the text back. */
export function escapeTemplate(text: string): string {
  return text.replace(/(\\*)\$\{/g, (_, slashes: string) => `${slashes}${slashes}\\\${`)
}

/** Index of the `}` that ends what began before `from`. */
function closing(text: string, from: number): number {
  let depth = 1
  let quote = ''
  for (let i = from; i < text.length; i++) {
    const c = text[i]
    if (quote !== '') {
      if (c === '\\') i++
      else if (c === quote) quote = ''
    } else if ((c === "'" || c === '"') && closes(text, i)) quote = c
    else if (c === '\\') i++
    else if (c === '{') depth++
    else if (c === '}' && --depth === 0) return i
  }
  return -1
}

/** An apostrophe in a word opens no quotation: only a quote that is closed again does. */
function closes(text: string, at: number): boolean {
  const end = text.indexOf(text[at], at + 1)
  return end > 0 && /[,:[({\s=]/.test(text[at - 1] ?? ',')
}

/** The arguments of a resolver, split at commas outside quotes and brackets. */
export function splitArguments(code: string): string[] {
  if (code.trim() === '') return []
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let start = 0
  for (let i = 0; i < code.length; i++) {
    const c = code[i]
    if (quote !== '') {
      if (c === '\\') i++
      else if (c === quote) quote = ''
    } else if ((c === "'" || c === '"') && closes(code, i)) quote = c
    else if (c === '\\') i++
    else if ('{[('.includes(c)) depth++
    else if ('}])'.includes(c)) depth--
    else if (c === ',' && depth <= 0) {
      parts.push(code.slice(start, i))
      start = i + 1
    }
  }
  parts.push(code.slice(start))
  return parts.map((part) => part.trim())
}

/** The text inside quotes, or undefined when it is not quoted. */
export function unquote(text: string): string | undefined {
  const quote = text[0]
  if ((quote !== "'" && quote !== '"') || text.length < 2 || text.at(-1) !== quote) return undefined
  return text.slice(1, -1).replace(/\\(['"\\])/g, '$1')
}

/** What `oc.decode` makes of a text: number, boolean, null, list, map, quoted or plain text. */
export function decode(text: string, depth = 0): unknown {
  const t = text.trim()
  if (depth > 50) throw new TemplateError('nested too deeply')
  const quoted = unquote(t)
  if (quoted !== undefined) return quoted
  if (/^null$/i.test(t)) return null
  if (/^true$/i.test(t)) return true
  if (/^false$/i.test(t)) return false
  if (/^[-+]?(?:0|[1-9][0-9]*)(?:_[0-9]+)*$/.test(t)) return Number(t.replaceAll('_', ''))
  if (/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(t)) return Number(t)
  if (/^[-+]?inf$/i.test(t)) return t.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (t.startsWith('[') && t.endsWith(']')) return splitArguments(t.slice(1, -1)).map((item) => decode(item, depth + 1))
  if (t.startsWith('{') && t.endsWith('}')) {
    return Object.fromEntries(
      splitArguments(t.slice(1, -1)).map((pair) => {
        const colon = pair.indexOf(':')
        if (colon < 0) throw new TemplateError(`'${pair}' is not a 'key: value' pair`)
        return [
          unquote(pair.slice(0, colon).trim()) ?? pair.slice(0, colon).trim(),
          decode(pair.slice(colon + 1), depth + 1),
        ]
      }),
    )
  }
  return text
}
