const PURE = /^\(?([A-J])\)?[.:)]?$/
const WITH_TEXT = /^(?:\(([A-J])\)|([A-J])[.:)])\s+\S/

/** B, (B), B., \text{(B)}, and "(B) 12" where the other side is the letter alone. */
export function sameChoice(a: string, b: string): boolean {
  const [x, y] = [unwrapped(a), unwrapped(b)]
  const [p, q] = [PURE.exec(x)?.[1], PURE.exec(y)?.[1]]
  if (p !== undefined) return p === (q ?? letter(y))
  return q !== undefined && q === letter(x)
}

function letter(text: string): string | undefined {
  const match = WITH_TEXT.exec(text)
  return match?.[1] ?? match?.[2]
}

function unwrapped(text: string): string {
  if (text.length > 400) return ''
  return text
    .replace(/\\(?:text|textbf|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}/g, '$1')
    .replace(/^(?:option|choice|answer)\s+/i, '')
    .replace(/\\[ ,;:!]/g, ' ')
    .trim()
}
