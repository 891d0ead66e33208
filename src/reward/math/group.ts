/** Index just after the brace that closes the one at `open`, or −1 when it is never closed. Escaped braces do not count. */
export function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let i = open; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 92) i++
    else if (c === 123) depth++
    else if (c === 125 && --depth === 0) return i + 1
  }
  return -1
}
