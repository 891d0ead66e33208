import type { Part, Word } from './lexer.js'
import { MAX_RANGE, numbers } from './range.js'

/** What is quoted or still to be expanded goes through as one character of these, which no script uses. */
const HELD = 0xe000
const MOST_HELD = 0x1900
const HELD_CHARS = /([\ue000-\uf8ff])/

/** `{a,b}`, `{1..3}` or `{a..c}`: what is in the braces. */
const LIST =
  /\{([^{}]*,[^{}]*|-?\d+\.\.-?\d+(?:\.\.-?\d+)?|[a-z]\.\.[a-z](?:\.\.-?\d+)?|[A-Z]\.\.[A-Z](?:\.\.-?\d+)?)\}/
const NESTED = /\{[^{}]*\{|\}[^{}]*\}/

/**
 * The words that a word with lists in braces stands for; others stand for themselves. Undefined for lists that are not
 * written out here: those within others, and those that are too long.
 */
export function expandBraces(word: Word): Word[] | undefined {
  if (word.parts.length > MOST_HELD || !word.parts.some(hasBrace)) return [word]
  const source = word.parts.map((part, i) => (isPlain(part) ? part.text : String.fromCharCode(HELD + i))).join('')
  if (NESTED.test(source)) return /,|\.\./.test(source) ? undefined : [word]
  let texts = ['']
  for (const [i, piece] of source.split(LIST).entries()) {
    const items = i % 2 === 0 ? [piece] : itemsOf(piece)
    if (items === undefined || texts.length * items.length > MAX_RANGE) return undefined
    texts = texts.flatMap((text) => items.map((item) => text + item))
  }
  return texts.map((text) => ({ ...word, parts: partsOf(text, word) }))
}

function isPlain(part: Part): part is Extract<Part, { kind: 'text' }> {
  return part.kind === 'text' && !part.quoted && !HELD_CHARS.test(part.text)
}

function hasBrace(part: Part): boolean {
  return isPlain(part) && part.text.includes('{')
}

function partsOf(text: string, { parts }: Word): Part[] {
  const pieces = text.split(HELD_CHARS).filter((piece) => piece !== '')
  return pieces.map((piece) =>
    HELD_CHARS.test(piece) ? parts[piece.charCodeAt(0) - HELD] : { kind: 'text', text: piece, quoted: false },
  )
}

function itemsOf(body: string): string[] | undefined {
  if (body.includes(',')) return body.split(',')
  const [first, last, step = '1'] = body.split('..')
  const size = step.replace(/^-?0*(?=\d)/, '')
  const inSteps = (from: string, to: string, width?: number) =>
    numbers(from, to, Number(from) > Number(to) ? `-${size}` : size, width)
  if (/^[a-z]/i.test(first)) {
    const [from, to] = [first, last].map((letter) => String(letter.charCodeAt(0)))
    return inSteps(from, to)?.map((code) => String.fromCharCode(Number(code)))
  }
  const isPadded = /^-?0\d/.test(first) || /^-?0\d/.test(last)
  return inSteps(first, last, isPadded ? Math.max(first.length, last.length) : 0)
}
