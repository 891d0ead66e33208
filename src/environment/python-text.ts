/** Values as Python writes them: pages and prompts of the original hold a few. */

/** `repr` of a float: whole numbers end in `.0`. */
export function floatText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value)
}

/** `repr` of a text. */
export function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll(mark, `\\${mark}`)
    .replace(/[\p{C}\p{Z}]/gu, (odd) => (odd === ' ' ? odd : (ESCAPES[odd] ?? escaped(odd))))
  return mark + inside + mark
}

/** `repr` of a list of texts. */
export function listText(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`
}

/** `json.dumps` of texts by name: with blanks, and nothing but ASCII. */
export function jsonText(object: Iterable<readonly [name: string, value: string]>): string {
  const entries = Array.from(object, ([name, value]) => `${jsonDumps(name)}: ${jsonDumps(value)}`)
  return `{${entries.join(', ')}}`
}

/** `json.dumps` of what JSON can hold: with blanks, and nothing but ASCII. */
export function jsonDumps(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonDumps).join(', ')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([name, inner]) => `${jsonDumps(name)}: ${jsonDumps(inner)}`)
    return `{${entries.join(', ')}}`
  }
  return (JSON.stringify(value) ?? 'null').replace(
    /[\x7f-\uffff]/g,
    (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What cannot be printed, by its number. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8]
  return `\\${letter}${code.toString(16).padStart(digits as number, '0')}`
}

const ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
