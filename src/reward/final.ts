import { lastBoxed } from './boxed.js'
import { parseAnswer } from './math/parse.js'
import { clean } from './math/text.js'
import { counted, isProse, numbers, sentences, withoutMarkup, wordless } from './prose.js'

const ANSWER_IS =
  /(?:\banswers?(?:\s+(?:to|for|of)\s[^.\n:=]{0,60}?)?\s*(?:\bis\b|\bare\b|\b(?:would|will|should|must)\s+be\b|[:：=]|\n)|答案\s*(?:是|为|：|:)|^\s*A(?:ns)?\s*[:：])\s*[:：]?\s*/gim

/** Only the end of a long text can hold its answer. */
const WINDOW = 20_000

/** A box; what follows ####; "the answer is …"; the whole text when it is a formula; what the last sentence with a value in it ends with. */
export function finalAnswer(whole: string): string | null {
  if (whole.includes('\\boxed') || whole.includes('\\fbox')) return lastBoxed(whole) || null
  const hashes = afterHashes(whole)
  if (hashes !== null) return hashes || null
  const text = withoutMarkup(whole.slice(-WINDOW))
  if (text === '') return null
  return stated(text) ?? wholeFormula(text) ?? lastValue(text) ?? clean(text)
}

/** What stands on the line after the last ####. */
export function afterHashes(text: string): string | null {
  const at = text.lastIndexOf('####')
  return at < 0
    ? null
    : text
        .slice(at + 4)
        .trim()
        .split('\n', 1)[0]!
        .trim()
}

function stated(text: string): string | undefined {
  let said = -1
  for (const match of text.matchAll(ANSWER_IS)) {
    // "A:" is the first of a list of choices where there is a "B:".
    if (!/^\s*A\s*[:：]/.test(match[0]) || !/^\s*B\s*[:：]/m.test(text)) said = match.index + match[0].length
  }
  if (said < 0) return undefined
  const [rest] = sentences(text.slice(said))
  if (rest === undefined) return undefined
  const value = counted(result(wordless(rest.text)))
  if (!isProse(value) && isReadable(value)) return clean(value)
  // "Answer:" may stand over a whole solution.
  const after = text.slice(said + rest.end)
  if (isProse(rest.text) && /\d/.test(after)) return undefined
  return formulas(rest.text)[0]?.text ?? numbers(value)[0] ?? clean(rest.text)
}

/** Of several lines the last, unless they are one formula or the last one is words. */
function wholeFormula(text: string): string | undefined {
  if (isProse(text)) return undefined
  const line = text.includes('\\begin') ? text : text.slice(text.lastIndexOf('\n') + 1)
  const body = wordless(line)
  const telling = line === text || /[\d\\^]/.test(body)
  return telling && (isReadable(body) || /[\\^]/.test(body)) && !/\\[[(\])]/.test(body) ? clean(body) : undefined
}

/** The last formula in it; what follows its last =; its last number. */
function lastValue(text: string): string | undefined {
  const sentence = sentences(text).findLast((part) => /\d|\$[^$]+\$|\\[([]/.test(part.text))
  const formula = formulas(text).at(-1)
  if (formula !== undefined && (sentence === undefined || formula.end > sentence.start)) return formula.text
  if (sentence === undefined) return undefined
  const at = sentence.text.lastIndexOf('=')
  const value = counted(wordless(sentence.text.slice(at + 1)))
  // 20 = A
  if (at >= 0 && /^[A-Za-z]$/.test(value)) return numbers(sentence.text.slice(0, at)).at(-1)
  if (at >= 0 && !isProse(value) && isReadable(value)) return clean(value)
  return (at >= 0 ? numbers(value)[0] : undefined) ?? numbers(sentence.text).at(-1)
}

/** 28 days / 7 = 4 weeks is a calculation in words: its result counts. */
function result(text: string): string {
  const at = text.lastIndexOf('=')
  return at >= 0 && /\d\s*[A-Za-z]{3}/.test(text.slice(0, at)) ? text.slice(at + 1).trim() : text
}

function isReadable(text: string): boolean {
  return text !== '' && text.length < 200 && parseAnswer(clean(text), true).node !== undefined
}

/** $…$ is a formula only where the marks stand close to it and no digit follows: "$36 and $11" are prices. */
const FORMULA =
  /\$\$([^$]+)\$\$|(?<!\\)\$(?!\s)((?:\\.|[^$\n\\])*)(?<!\s)\$(?!\d)|\\\(((?:(?!\\\()[^\n])*?)\\\)|\\\[([^[]*?)\\\]/g

function formulas(text: string): { text: string; end: number }[] {
  const found: { text: string; end: number }[] = []
  for (const match of text.matchAll(FORMULA)) {
    const inner = (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim()
    if (!isProse(inner) && isReadable(inner)) found.push({ text: inner, end: match.index + match[0].length })
  }
  return found
}
