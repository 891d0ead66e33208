/** Deepest nesting of JSON that is read. Code that visits a value calls itself once per level. */
const DEEPEST = 1000

/**
 * `JSON.parse` for text from outside. Throws a `SyntaxError` for text that is not JSON or that nests deeper than 1,000
 * levels, because `JSON.parse` itself reads nesting on which any recursive code exhausts the stack.
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text)
  checkNesting(text)
  return value
}

/** Throws a `SyntaxError` if the text nests deeper than `parseJsonText` reads. */
export function checkNesting(text: string): void {
  if (!hasManyBrackets(text)) return
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    // [ and {, ] and } differ in one bit.
    else if ((code | 0x20) === 0x7b) {
      if (++depth > DEEPEST) throw new SyntaxError(`nested deeper than ${DEEPEST} levels`)
    } else if ((code | 0x20) === 0x7d) depth--
  }
}

/** Whether a text has enough opening brackets to nest too deep. Most texts have few; a look at each character takes longer. */
function hasManyBrackets(text: string): boolean {
  let count = 0
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++count > DEEPEST) return true
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i++
    else if (code === QUOTE) return i
  }
  return text.length
}

/** Value of a JSON text. Returns undefined if the text is not JSON or nests too deep. */
export function jsonIn(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}

/** Applies `change` to the parts of a JSON text between its strings. A regular expression would recurse on long strings. */
export function outsideStrings(text: string, change: (json: string) => string): string {
  let out = ''
  for (let at = 0; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return out + change(text.slice(at))
    const end = endOfString(text, quote) + 1
    out += change(text.slice(at, quote)) + text.slice(quote, end)
    at = end
  }
}
