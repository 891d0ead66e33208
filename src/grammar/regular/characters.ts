import { type Expression, type Expressions, mergedRanges, NEVER, pairsOf } from './expression.js'

/** Sorted code points, apart from each other, both ends included: lo, hi, lo, hi, … */
export type CodePoints = readonly number[]

const LAST = 0x10ffff
/** Every code point but the halves of surrogate pairs, which no text holds. */
export const ANY: CodePoints = [0, 0xd7ff, 0xe000, LAST]

export function union(...sets: CodePoints[]): number[] {
  return mergedRanges(sets.flatMap(pairsOf))
}

export function without(set: CodePoints, taken: CodePoints): number[] {
  return intersection(set, complement(taken))
}

export function complement(set: CodePoints): number[] {
  const rest: number[] = []
  let from = 0
  for (const [low, high] of pairsOf(set)) {
    if (low > from) rest.push(from, low - 1)
    from = high + 1
  }
  if (from <= LAST) rest.push(from, LAST)
  return rest
}

export function intersection(a: CodePoints, b: CodePoints): number[] {
  const both: [number, number][] = []
  for (const [low, high] of pairsOf(a)) {
    for (const [from, to] of pairsOf(b)) {
      if (from <= high && low <= to) both.push([Math.max(low, from), Math.min(high, to)])
    }
  }
  return mergedRanges(both)
}

/** How one character out of a set is written. */
export type Spelling = (all: Expressions, set: CodePoints) => Expression

/** As UTF-8. */
export const plainly: Spelling = (all, set) => {
  const options: Expression[] = []
  for (const [low, high] of pairsOf(intersection(set, ANY))) options.push(...sequences(all, low, high))
  return all.alt(...options)
}

const ESCAPED: CodePoints = [0, 0x1f, 0x22, 0x22, 0x5c, 0x5c]

/** As a JSON string holds it: escaped where it must be, and then in the form that JSON.stringify writes. */
export const inJson: Spelling = (all, set) => {
  const escaped: string[] = []
  for (const [low, high] of pairsOf(intersection(set, ESCAPED))) {
    for (let code = low; code <= high; code++) escaped.push(JSON.stringify(String.fromCharCode(code)).slice(1, -1))
  }
  return all.alt(plainly(all, without(set, ESCAPED)), escaped.length > 0 ? all.oneOf(escaped) : NEVER)
}

/** The last code points that one, two and three bytes can hold. */
const LENGTHS = [0x7f, 0x7ff, 0xffff, LAST]

/** The UTF-8 forms of a range, as sequences of byte ranges that share no text. */
function sequences(all: Expressions, low: number, high: number): Expression[] {
  for (const last of LENGTHS) {
    if (low <= last && high > last) return [...sequences(all, low, last), ...sequences(all, last + 1, high)]
  }
  if (high <= 0x7f) return [all.bytes([low, high])]
  // where the tail bytes do not run over all their values, the range is cut so that they do
  for (let tails = 1; tails < 4; tails++) {
    const mask = (1 << (6 * tails)) - 1
    if ((low & ~mask) === (high & ~mask)) break
    if ((low & mask) !== 0) return [...sequences(all, low, low | mask), ...sequences(all, (low | mask) + 1, high)]
    if ((high & mask) !== mask) {
      return [...sequences(all, low, (high & ~mask) - 1), ...sequences(all, high & ~mask, high)]
    }
  }
  const [from, to] = [Buffer.from(String.fromCodePoint(low)), Buffer.from(String.fromCodePoint(high))]
  return [all.seq(...Array.from(from, (byte, i) => all.bytes([byte, to[i]])))]
}
