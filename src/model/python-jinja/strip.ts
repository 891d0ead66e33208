/** Tells what Python's str.strip removes by itself: Unicode's blanks and the four separators of ASCII. */
const isBlank = (c: string) => /\p{White_Space}/u.test(c) || (c >= '\x1c' && c <= '\x1f')

/** str.strip, str.lstrip and str.rstrip. `characters`: set of the characters to remove; default: blanks. */
export function strip(from: string, characters: string | undefined, left: boolean, right: boolean): string {
  const set = characters === undefined ? undefined : new Set(characters)
  const goes = (character: string) => (set ? set.has(character) : isBlank(character))
  let start = 0
  let end = from.length
  while (left && start < end) {
    const character = String.fromCodePoint(from.codePointAt(start)!)
    if (!goes(character)) break
    start += character.length
  }
  while (right && end > start) {
    const pair = end - start > 1 ? from.slice(end - 2, end) : ''
    const character = pair.codePointAt(0)! > 0xffff ? pair : from[end - 1]
    if (!goes(character)) break
    end -= character.length
  }
  return from.slice(start, end)
}
