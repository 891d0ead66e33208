import { compare, parseDecimal, type Rational } from './math/rational.js'

const ONE: Rational = { n: 1n, d: 1n }
const NAMES = ['think', 'answer', 'analysis', 'confidence'] as const

export type RlcrFailure =
  | 'response_not_string'
  | 'unbalanced_tags'
  | 'crossed_tags'
  | 'nested_tags'
  | 'missing_tag'
  | 'wrong_order'
  | 'inter_tag_junk'
  | 'trailing_junk'
  | 'confidence_empty'
  | 'confidence_non_numeric'
  | 'confidence_non_finite'
  | 'confidence_out_of_range'

export type Rlcr = { think: string; answer: string; analysis: string; confidence: number } | { failure: RlcrFailure }

interface Block {
  name: string
  start: number
  end: number
  text: string
}

/** A response that ends with think, answer, analysis and confidence, in this order, with nothing between or after them. */
export function parseRlcr(response: unknown): Rlcr {
  if (typeof response !== 'string') return { failure: 'response_not_string' }
  const blocks = readBlocks(response)
  if (typeof blocks === 'string') return { failure: blocks }
  if (NAMES.some((name) => !blocks.some((block) => block.name === name))) return { failure: 'missing_tag' }
  const chain = blocks.slice(-NAMES.length)
  if (!NAMES.every((name, k) => chain[k]?.name === name)) return { failure: 'wrong_order' }
  for (let k = 1; k < chain.length; k++) {
    if (response.slice(chain[k - 1]!.end, chain[k]!.start).trim() !== '') return { failure: 'inter_tag_junk' }
  }
  if (response.slice(chain[3]!.end).trim() !== '') return { failure: 'trailing_junk' }
  const confidence = readConfidence(chain[3]!.text)
  if (typeof confidence === 'string') return { failure: confidence }
  return { think: chain[0]!.text, answer: chain[1]!.text, analysis: chain[2]!.text, confidence }
}

/** Blocks in order, none inside another. */
function readBlocks(response: string): Block[] | RlcrFailure {
  const open: { name: string; start: number; body: number }[] = []
  const blocks: Block[] = []
  let nested = false
  for (const match of response.matchAll(/<(\/?)(think|answer|analysis|confidence)>/g)) {
    const name = match[2]!
    if (match[1] === '') {
      if (open.length > 0) nested = true
      open.push({ name, start: match.index, body: match.index + match[0].length })
      continue
    }
    const last = open.pop()
    if (last === undefined) return 'unbalanced_tags'
    if (last.name !== name) return open.some((tag) => tag.name === name) ? 'crossed_tags' : 'unbalanced_tags'
    blocks.push({
      name,
      start: last.start,
      end: match.index + match[0].length,
      text: response.slice(last.body, match.index).trim(),
    })
  }
  if (open.length > 0) return 'unbalanced_tags'
  return nested ? 'nested_tags' : blocks
}

function readConfidence(text: string): number | RlcrFailure {
  if (text === '') return 'confidence_empty'
  if (/^[+-]?(?:inf(?:inity)?|nan)$/i.test(text)) return 'confidence_non_finite'
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return 'confidence_non_numeric'
  const value = Number(text)
  if (!Number.isFinite(value)) return 'confidence_non_finite'
  // -0 and 1.00000000000000000001 are out of range too, though a double does not show it.
  const exact = parseDecimal(text.replace(/^[+-]/, ''))
  const outside = text.startsWith('-') || value > 1 || (value === 1 && (!exact || compare(exact, ONE) > 0))
  return outside ? 'confidence_out_of_range' : value
}

/** The last confidence, wherever it stands; `undefined` when it is no number from 0 to 1, or a tag of one has no partner. */
export function lastConfidence(response: string): number | undefined {
  let open = -1
  let last: string | undefined
  for (const match of response.matchAll(/<(\/?)confidence>/g)) {
    const closes = match[1] === '/'
    if (closes === open < 0) return undefined
    if (closes) last = response.slice(open, match.index).trim()
    open = closes ? -1 : match.index + match[0].length
  }
  const value = open >= 0 || last === undefined ? undefined : readConfidence(last)
  return typeof value === 'number' ? value : undefined
}
