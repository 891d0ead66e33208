import { closingBrace } from './math/group.js'
import { parseAnswer } from './math/parse.js'
import { clean } from './math/text.js'

/**
 * boxed: the last `\boxed{…}`. answer_tag, last_answer_tag: the first or last `<answer>…</answer>`, over lines too.
 * gsm8k: what follows the last `####`. final: whatever the text gives as its answer, by the best sign there is.
 */
export type ExtractMode = 'boxed' | 'answer_tag' | 'last_answer_tag' | 'gsm8k' | 'final'

/** The answer in a text, or `null` when there is none. */
export function extractAnswer(text: unknown, mode: ExtractMode): string | null {
  if (typeof text !== 'string') return null
  switch (mode) {
    case 'boxed':
      return lastBoxed(text)
    case 'answer_tag':
      return tagged(text, text.indexOf(OPEN))
    case 'last_answer_tag':
      return tagged(text, text.lastIndexOf(OPEN, text.lastIndexOf(CLOSE)))
    case 'gsm8k':
      return afterHashes(text)
    case 'final':
      return finalAnswer(text)
  }
}

const OPEN = '<answer>'
const CLOSE = '</answer>'

function tagged(text: string, open: number): string | null {
  const close = open < 0 ? -1 : text.indexOf(CLOSE, open)
  return close < 0 ? null : text.slice(open + OPEN.length, close).trim()
}

function afterHashes(text: string): string | null {
  const at = text.lastIndexOf('####')
  return at < 0 ? null : text.slice(at + 4).trim()
}

/** Braces must balance. `\boxed 5$` without braces goes up to the dollar. */
function lastBoxed(text: string): string | null {
  const at = Math.max(text.lastIndexOf('\\boxed'), text.lastIndexOf('\\fbox'))
  if (at < 0) return null
  const after = at + (text.startsWith('\\boxed', at) ? 6 : 5)
  const open = after + (/^\s*/.exec(text.slice(after, after + 8))?.[0].length ?? 0)
  if (text[open] === '{') {
    const end = closingBrace(text, open)
    return end < 0 ? null : text.slice(open + 1, end - 1).trim()
  }
  const dollar = text.indexOf('$', after)
  const rest = text.slice(after, dollar < 0 ? undefined : dollar).trim()
  return text[after] === ' ' && rest !== '' ? rest : null
}

const ANSWER_IS = /(?:\banswer\s*(?:is|:|=)|答案\s*(?:是|为|：|:))\s*:?\s*/gi
const NUMBER =
  /(?<![\w.)])-?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*\/\s*\d+)?\s?\\?%?|\d+(?:\.\d+)?/g

/** Only the end of a long text can hold its answer. */
const WINDOW = 20_000

/** A box; what follows ####; "the answer is …"; the whole text when it is a formula; the last formula; what follows the last =; the last number. */
function finalAnswer(whole: string): string | null {
  const boxed = whole.includes('\\boxed') || whole.includes('\\fbox')
  if (boxed) return lastBoxed(whole) || null
  if (whole.includes('####')) return afterHashes(whole) || null
  const text = whole.slice(-WINDOW).trim()
  if (text === '') return null
  let said = -1
  for (const match of text.matchAll(ANSWER_IS)) said = match.index + match[0].length
  if (said >= 0) {
    const rest = sentence(text.slice(said))
    if (rest !== '') return isProse(rest) ? (formulas(rest)[0] ?? numbers(rest)[0] ?? rest) : clean(rest)
  }
  if (!isProse(text)) return clean(shortened(text))
  const formula = formulas(text).at(-1)
  if (formula !== undefined) return formula
  const equals = sentence(text.slice(text.lastIndexOf('=') + 1))
  if (text.includes('=') && !isProse(equals) && isReadable(equals)) return clean(equals)
  return numbers(text).at(-1) ?? clean(text)
}

/** Without a heading such as `Result:`; of several lines that are no formula together, the last. */
function shortened(text: string): string {
  const body = text.replace(/^[A-Za-z]{2,}\s*:\s*/, '')
  return isReadable(body) ? body : body.slice(body.lastIndexOf('\n') + 1)
}

function sentence(text: string): string {
  const line = text.trimStart().split('\n', 1)[0]!
  const end = /[.。](?:\s|$)/.exec(line)
  return (end ? line.slice(0, end.index) : line).replace(/\*+/g, '').trim()
}

/** Two words in a row, outside commands. */
function isProse(text: string): boolean {
  return (
    text.length > 1000 ||
    /(?<![\\A-Za-z])[A-Za-z']{2,}[\s,]+[A-Za-z']{2,}/.test(text.replace(/\\text\w*\{[^{}]*\}/g, ''))
  )
}

function isReadable(text: string): boolean {
  return text !== '' && text.length < 200 && parseAnswer(clean(text), true).node !== undefined
}

function formulas(text: string): string[] {
  const found: string[] = []
  for (const match of text.matchAll(/\$\$([^$]+)\$\$|\$([^$\n]+)\$|\\\(([^\n]*?)\\\)|\\\[([^[]*?)\\\]/g)) {
    const inner = (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim()
    if (isReadable(inner)) found.push(inner)
  }
  return found
}

function numbers(text: string): string[] {
  return Array.from(text.matchAll(NUMBER), (match) => match[0].replace(/,/g, '').trim())
}
