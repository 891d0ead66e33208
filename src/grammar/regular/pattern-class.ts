import { type CodePoints, complement, union } from './characters.js'

/** What stands for a set of characters in a regular expression of JavaScript, in Unicode mode. */
export const DIGITS: CodePoints = [0x30, 0x39]
export const WORD: CodePoints = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
export const SPACE: CodePoints = union(
  [0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a],
  [0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
)
/** All but the ends of lines. */
export const DOT: CodePoints = complement([0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029])

const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
}

/** Of `\d` and the like. */
export function classOf(letter: string): CodePoints | undefined {
  return Object.hasOwn(CLASSES, letter) ? CLASSES[letter] : undefined
}

const properties = new Map<string, CodePoints>()

/** Of `\p{…}`; undefined where there is no such property. */
export function propertyOf(name: string): CodePoints | undefined {
  const known = properties.get(name)
  if (known) return known
  if (!/^[A-Za-z_=]+$/.test(name)) return undefined
  let test: RegExp
  try {
    test = new RegExp(`^\\p{${name}}$`, 'u')
  } catch {
    return undefined
  }
  const set: number[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    if ((code >= 0xd800 && code <= 0xdfff) || !test.test(String.fromCodePoint(code))) continue
    if (set.length > 0 && set[set.length - 1] === code - 1) set[set.length - 1] = code
    else set.push(code, code)
  }
  properties.set(name, set)
  return set
}
