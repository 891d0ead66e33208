import { TrinityError } from '../../base/error.js'

/** Longest part of a pattern in a message. */
const LONGEST = 200

/** Returns the positions of a path that a part of a pattern reaches from the given positions, in rising order. */
type Part = (path: string, from: readonly number[]) => readonly number[]

/**
 * Compiles a glob of a data card: `*` and `?` stay inside one folder, `**` crosses folders. Returns a test of paths. Its
 * time is at most the product of both lengths; a regular expression with many `**` would need exponential time.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const parts = partsOf(glob, glob)
  return (path) => reached(parts, path, [0]).includes(path.length)
}

function reached(parts: readonly Part[], path: string, from: readonly number[]): readonly number[] {
  let positions = from
  for (const part of parts) {
    if (positions.length === 0) return positions
    positions = part(path, positions)
  }
  return positions
}

function partsOf(text: string, glob: string): Part[] {
  const parts: Part[] = []
  for (let i = 0; i < text.length; ) {
    const char = text[i]
    const close = char === '[' || char === '{' ? text.indexOf(char === '[' ? ']' : '}', i) : -1
    let part: Part
    let length = 1
    if (text.startsWith('**/', i)) [part, length] = [folders, 3]
    else if (text.startsWith('**', i)) [part, length] = [anything, 2]
    else if (char === '*') part = name
    else if (char === '?') part = one((found) => found !== '/')
    else if (close < 0) part = one((found) => found === char)
    else {
      const inside = text.slice(i + 1, close)
      part = char === '[' ? one(members(inside, glob)) : either(inside.split(',').map((word) => partsOf(word, glob)))
      length = close + 1 - i
    }
    parts.push(part)
    i += length
  }
  return parts
}

/** Any number of whole folders. */
const folders: Part = (path, from) => {
  const next = [...from]
  for (let at = from[0]; at < path.length; at++) if (path[at] === '/') next.push(at + 1)
  return sorted(next)
}

const anything: Part = (path, [first]) => Array.from({ length: path.length - first + 1 }, (_, i) => first + i)

/** Any characters of one folder or file. */
const name: Part = (path, from) => {
  const next: number[] = []
  for (const start of from) {
    // a later start within the same name reaches nothing new
    if (start <= (next.at(-1) ?? -1)) continue
    let at = start
    next.push(at)
    while (at < path.length && path[at] !== '/') next.push(++at)
  }
  return next
}

function one(accepts: (char: string) => boolean): Part {
  return (path, from) => from.filter((at) => at < path.length && accepts(path[at])).map((at) => at + 1)
}

function either(ways: readonly (readonly Part[])[]): Part {
  return (path, from) => sorted(ways.flatMap((way) => reached(way, path, from)))
}

/** The test of a bracket expression such as `a-z_`; `!` or `^` at its beginning negates it. */
function members(inside: string, glob: string): (char: string) => boolean {
  const isNegated = /^[!^]/.test(inside)
  const ranges = inside.slice(isNegated ? 1 : 0).match(/.-.|./gs) ?? []
  if (ranges.some((range) => range[0] > range[range.length - 1])) {
    throw new TrinityError('data/pattern', `a pattern of files that cannot be read: ${glob.slice(0, LONGEST)}`, {
      hint: 'in brackets write ranges from the lower to the higher character, such as [0-9]',
    })
  }
  return (char) => ranges.some((range) => range[0] <= char && char <= range[range.length - 1]) !== isNegated
}

function sorted(positions: readonly number[]): number[] {
  return [...new Set(positions)].sort((a, b) => a - b)
}
