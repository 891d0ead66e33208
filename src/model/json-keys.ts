/**
 * The first key that some object of a JSON text holds twice. JSON.parse keeps the last one silently, which in a header
 * means that two readers can disagree on what a file says. `text` must be valid JSON.
 */
export function repeatedKey(text: string): string | undefined {
  /** Keys seen in each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = []
  let expectKey = false
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
        open.push(new Set())
        expectKey = true
        break
      case 0x5b: // [
        open.push(undefined)
        expectKey = false
        break
      case 0x7d: // }
      case 0x5d: // ]
        open.pop()
        expectKey = false
        break
      case 0x2c: // ,
        expectKey = open.at(-1) !== undefined
        break
      case 0x22: {
        const start = i++
        while (text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1
        if (!expectKey) break
        const key = JSON.parse(text.slice(start, i + 1)) as string
        const seen = open.at(-1)!
        if (seen.has(key)) return key
        seen.add(key)
        expectKey = false
      }
    }
  }
  return undefined
}
