import { checkNesting, outsideStrings, parseJsonText } from '../../base/json-text.js'

/** Numbers that a double may not hold: long integers, and exponents of three digits. */
const SUSPECT = /\d{16}|e[+-]?\d{3}/i
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi
/** What Python's `json` writes for numbers that JSON does not have. */
const NOT_JSON = /\bNaN\b|-?\bInfinity\b/g
/** Stands before such a word until the text is parsed; no data hold it. */
const MARK = '\u0000trinity:'

/**
 * JSON as people mean it: an integer beyond 2^53 becomes its digits as text, since a double would change them, and `NaN`
 * and `Infinity`, which Python writes, are read.
 */
export function parseJson(text: string): unknown {
  try {
    const value = parseJsonText(text)
    return SUSPECT.test(text) ? JSON.parse(outsideStrings(text, exactNumbers)) : value
  } catch (error) {
    if (text.search(NOT_JSON) < 0) throw error
    checkNesting(text)
    try {
      return JSON.parse(outsideStrings(text, withWords), wordsRead)
    } catch {
      throw error
    }
  }
}

function exactNumbers(json: string): string {
  return json.replace(NUMBER, (number) => {
    const value = Number(number)
    const held = /^-?\d+$/.test(number)
      ? Number.isSafeInteger(value) || String(value) === number
      : Number.isFinite(value)
    return held ? number : `"${number}"`
  })
}

function withWords(json: string): string {
  return exactNumbers(json).replace(NOT_JSON, (word) => JSON.stringify(MARK + word))
}

function wordsRead(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(MARK.length)) : value
}
