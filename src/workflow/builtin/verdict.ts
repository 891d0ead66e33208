import { parseJsonText } from '../../base/json-text.js'

/** Opening brackets that are tried, from the last on: text of brackets alone would take quadratic time. */
const MOST_TRIES = 1000

/** Returns the last JSON value between these brackets in a text, or undefined if there is none. */
export function lastJson(text: string, open: '{' | '['): unknown {
  const close = open === '{' ? '}' : ']'
  const end = text.lastIndexOf(close)
  let tries = 0
  for (let at = text.lastIndexOf(open, end); at >= 0; at = text.lastIndexOf(open, at - 1)) {
    if (++tries > MOST_TRIES) return undefined
    try {
      return parseJsonText(text.slice(at, end + 1))
    } catch {
      if (at === 0) break
    }
  }
  return undefined
}

/** The list of so many scores at the end of a verdict, each from 0 to 1; undefined where there is none. */
export function scoresIn(verdict: string, count: number): number[] | undefined {
  const list = lastJson(verdict, '[')
  if (!Array.isArray(list) || list.length !== count) return undefined
  const scores = list.map((one) => (typeof one === 'number' || typeof one === 'string' ? Number(one) : Number.NaN))
  return scores.every(Number.isFinite) ? scores.map((one) => Math.min(1, Math.max(0, one))) : undefined
}
