import { Cursor, NotMath } from './cursor.js'
import { list } from './expression.js'
import type { Node } from './node.js'
import { lex, type Token } from './token.js'

/** Longer texts are compared letter by letter: nobody's answer is that long. */
export const MAX_LENGTH = 4000
const MAX_TOKENS = 1500

export interface Reading {
  tokens: readonly Token[]
  /** Absent when the text is not mathematics that we read. */
  node?: Node
}

/** Reads an answer. `thousands`: whether 1,234 is one number rather than two. Never throws. */
export function parseAnswer(text: string, thousands: boolean): Reading {
  const tokens = lex(text, { thousands })
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) return { tokens }
  const based = /^([+-]?)\{?([0-9A-Z]+)\}?_\{?(\d{1,2})\}?$/.exec(text.replace(/[\s$]|\\text|\\mathrm/g, ''))
  if (based && /[0-9]/.test(based[2]!)) {
    const node: Node = { kind: 'based', digits: based[2]!, base: Number(based[3]) }
    return { tokens, node: based[1] === '-' ? { kind: 'negate', item: node } : node }
  }
  try {
    // The parser takes tokens apart (\frac12): it works on a copy.
    const cursor = new Cursor([...tokens])
    const node = list(cursor)
    return cursor.next === undefined ? { tokens, node } : { tokens }
  } catch (error) {
    if (error instanceof NotMath) return { tokens }
    throw error
  }
}
