import { findUnit } from './math/units.js'

/** Two words in a row, outside commands. */
export function isProse(text: string): boolean {
  return (
    text.length > 1000 ||
    /(?<![\\A-Za-z])[A-Za-z']{2,}[\s,]+[A-Za-z']{2,}/.test(text.replace(/\\text\w*\{[^{}]*\}/g, ''))
  )
}

/** Without bold marks, code marks, bullets and the calculations in <<…>> of GSM8K. */
export function withoutMarkup(text: string): string {
  return text
    .replace(/<<[^<>\n]*>>/g, '')
    .replace(/(?<![\w)])\*\*|\*\*(?![\w(])/g, '')
    .replace(/`|^[ \t]*(?:[-*•>]|#{1,3})[ \t]+/gm, '')
    .trim()
}

const LEAD =
  /^(?:(?:thus|so|hence|therefore|then|finally|and|that|we (?:get|have|find|obtain)|it is|this is|simply|just|exactly|approximately|about|equal to|equals)\b[\s,:]*)+/i
const HEADING = /^[A-Za-z]{2,}\s*:\s*|^[A-Za-z]{3,}\s*=\s*/
const CLAUSE =
  /(?<=\S)[\s,;(]{1,4}(?:because|since|as|so|which|where|when|if|after|before|for|from|by|due|given|using|that|with|in (?:total|all)|altogether|total|per|each|every|more|left|remaining)\b[\s\S]*$/i

/** A value without the words before it ("so", "Result:") and the clause after it ("because …", "in total"). */
export function wordless(text: string): string {
  const body = text.trim().replace(LEAD, '').replace(HEADING, '').replace(CLAUSE, '').trim()
  return body.replace(/(?<![.。,;:])[.。,;:]+$/, '').replace(/^(-?)\$(?=-?[\d.])(?![^$]*\$)/, '$1')
}

const COUNTED = /^(-?\$?[\d.,]*\d)(\s+|\s*[/-]\s*|(?=[A-Za-z]{3}))([A-Za-z][A-Za-z\s/'-]*)$/

/** Of "3 times a day" and "140 MB" the number; units that the grader knows stay. */
export function counted(text: string): string {
  const match = COUNTED.exec(text)
  if (!match) return text
  const words = match[3]!.split(/[\s/'-]+/).filter((word) => word !== '')
  const known = !/[/-]/.test(match[2]!) && words.every((word) => word === 'per' || findUnit(word, true))
  return known ? text : match[1]!.replace(/[,$]/g, '')
}

export interface Sentence {
  text: string
  start: number
  end: number
}

/** A sentence ends with its line, or with a mark that a space follows. */
export function sentences(text: string): Sentence[] {
  const found: Sentence[] = []
  for (const match of text.matchAll(/(?:[^\n.。?]|[.?](?=[^\s]))+(?:[.。?]+(?=\s|$))?/g)) {
    if (match[0].trim() === '') continue
    const trimmed = match[0].replace(/[.。?]+$/, '').trim()
    found.push({ text: trimmed, start: match.index, end: match.index + match[0].length })
  }
  return found
}

const NUMBER =
  /(?<![\w.)])(?:-\$?|\$-?)?(?:\d+\s\d+\s?\/\s?\d+|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*\/\s*\d+)?\s?\\?%?|\.\d+)|\d+(?:\.\d+)?/g

export function numbers(text: string): string[] {
  return Array.from(text.matchAll(NUMBER), (match) => match[0].replace(/[,$]/g, '').trim())
}
