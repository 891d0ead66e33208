/** The JSON value of a text; undefined if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
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
    const end = endOfString(text, quote)
    out += change(text.slice(at, quote)) + text.slice(quote, end)
    at = end
  }
}

/** Position after the quote that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
  }
  return text.length
}
