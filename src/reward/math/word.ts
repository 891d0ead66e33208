import { functionCall, root } from './command.js'
import type { Cursor } from './cursor.js'
import { product } from './expression.js'
import { type Node, whole } from './node.js'
import { primary } from './primary.js'
import { findUnit } from './units.js'
import { FUNCTION_NAMES, FUNCTIONS } from './vocabulary.js'

export function isSeparatorWord(text: string): boolean {
  return /^,?\s*(?:or|and)\s*,?$/.test(text)
}

/** Whether a function stands here, which ends the bare argument of the one before it. */
export function isFunctionWord(cursor: Cursor): boolean {
  const token = cursor.next
  return token !== undefined && token.kind !== 'number' && FUNCTIONS.has(FUNCTION_NAMES[token.text] ?? token.text)
}

const CONSTANTS: Record<string, Node> = {
  e: { kind: 'constant', name: 'e' },
  i: { kind: 'constant', name: 'i' },
  pi: { kind: 'constant', name: 'pi' },
  inf: { kind: 'constant', name: 'infinity' },
  infty: { kind: 'constant', name: 'infinity' },
  oo: { kind: 'constant', name: 'infinity' },
  infinity: { kind: 'constant', name: 'infinity' },
}

const BRACKETED: Record<string, string> = { abs: 'abs', floor: 'floor', ceil: 'ceil' }

/** A run of letters where a value is expected. */
export function wordPrimary(cursor: Cursor, word: string, single: boolean): Node {
  const fn = FUNCTION_NAMES[word] ?? word
  if (FUNCTIONS.has(fn)) return functionCall(cursor, fn)
  if (word === 'sqrt') return root(cursor)
  if (BRACKETED[word] !== undefined && cursor.isOp('(')) {
    return { kind: 'call', name: BRACKETED[word], items: [primary(cursor)] }
  }
  const constant = CONSTANTS[word]
  if (constant !== undefined) return constant
  if (word.length === 1) return applied(cursor, subscripted(cursor, word))
  if (single) {
    cursor.tokens[--cursor.at] = { kind: 'word', text: word.slice(1), spaced: false }
    return CONSTANTS[word[0]!] ?? { kind: 'symbol', name: word[0]! }
  }
  if (isProse(cursor, word)) return prose(cursor, word)
  return splitLetters(cursor, word)
}

/** Runs like CBAD, Tuesday and even are words; xy, abc and the RC of 2RC + R are products. */
function isProse(cursor: Cursor, word: string): boolean {
  if (word.length >= 4 && /[a-z]/.test(word)) return true
  const before = cursor.ahead(-2)
  const after = cursor.next
  const alone = (before === undefined || isEdge(before.text)) && (after === undefined || isEdge(after.text))
  return alone && (word.length >= 4 || /[A-Z]/.test(word))
}

function isEdge(text: string): boolean {
  return /^(?:[,;{}()[\]]|\\[{}]|or|and)$/.test(text)
}

function prose(cursor: Cursor, word: string): Node {
  const words = [word]
  for (let token = cursor.next; token; token = cursor.next) {
    if ((token.kind !== 'word' && token.kind !== 'number') || isSeparatorWord(token.text)) break
    words.push(token.text)
    cursor.at++
  }
  return { kind: 'text', text: words.join(' ').toLowerCase() }
}

function splitLetters(cursor: Cursor, word: string): Node {
  let node: Node | undefined
  for (let k = 0; k < word.length; k++) {
    const letter = word[k]!
    const last = k === word.length - 1
    const factor = CONSTANTS[letter] ?? (last ? applied(cursor, subscripted(cursor, letter)) : symbol(letter))
    // Powers bind to the last letter only: ab^2 is a·b².
    node = node === undefined ? factor : last ? product(node, raisedLetter(cursor, factor)) : product(node, factor)
  }
  return node!
}

function raisedLetter(cursor: Cursor, factor: Node): Node {
  if (!cursor.isOp('^')) return factor
  const mark = cursor.ahead(cursor.isOp('{', 1) ? 2 : 1)
  if (mark?.kind === 'command' && (mark.text === 'circ' || mark.text === 'prime')) return factor
  cursor.at++
  const negative = cursor.accept('-')
  const exponent = cursor.nested(() => primary(cursor, { single: true }))
  return { kind: 'power', left: factor, right: negative ? { kind: 'negate', item: exponent } : exponent }
}

function symbol(name: string): Node {
  return { kind: 'symbol', name }
}

/** x_1, x_{12}, m_{\max}: the subscript belongs to the name. */
export function subscripted(cursor: Cursor, name: string): Node {
  if (!cursor.accept('_')) return symbol(name)
  return symbol(`${name}_${cursor.isOp('{') ? letters(cursor) : cursor.take().text}`)
}

/** The text of a braced group, or of the next token. */
export function letters(cursor: Cursor): string {
  if (!cursor.accept('{')) return cursor.take().text
  let text = ''
  for (let depth = 1; ; ) {
    const token = cursor.take()
    if (token.kind === 'op' && token.text === '{') depth++
    if (token.kind === 'op' && token.text === '}' && --depth === 0) return text
    text += token.text
  }
}

/** f(4 − x) and I(0) are applications; x(x + 1) is a product. */
export function applied(cursor: Cursor, head: Node): Node {
  if (head.kind !== 'symbol' || !cursor.isOp('(')) return head
  const inner = cursor.ahead(1)
  const atom = inner !== undefined && (inner.kind === 'number' || inner.kind === 'word') && cursor.isOp(')', 2)
  if (!atom && !/^[fgh](?:_.*)?$/.test(head.name)) return head
  const argument = primary(cursor)
  const items = argument.kind === 'sequence' ? argument.items : [argument]
  return { kind: 'call', name: `apply ${head.name}`, items }
}

/** Words after a value: units (5 cm, 50 km/h, 3 square feet), or things counted (12 apples). */
export function unitPhrase(cursor: Cursor, marked: boolean): Node | undefined {
  let node: Node | undefined
  for (let token = cursor.next; token; token = cursor.next) {
    if (token.kind !== 'word' && token.kind !== 'text') break
    if (isSeparatorWord(token.text)) break
    const factor = token.kind === 'text' ? textUnit(token.text) : unitWord(token.text, marked)
    if (factor === undefined) break
    cursor.at++
    const exponent = pendingExponent(token.text)
    if (exponent > 1 && cursor.next?.kind === 'word') {
      const inner = unitWord(cursor.take().text, true) ?? cursor.fail()
      node = times(node, { kind: 'power', left: inner, right: whole(exponent) })
    } else node = times(node, factor)
    if (cursor.isOp('^')) break
  }
  return node
}

function times(left: Node | undefined, right: Node): Node {
  return left === undefined ? right : product(left, right)
}

function pendingExponent(word: string): number {
  return /^(?:square|sq)$/i.test(word) ? 2 : /^cubic$/i.test(word) ? 3 : 1
}

function unitWord(word: string, marked: boolean): Node | undefined {
  const lower = word.toLowerCase()
  if (/^degrees?$/.test(lower)) return { kind: 'constant', name: 'degree' }
  if (/^per ?cent$/.test(lower)) return { kind: 'constant', name: 'percent' }
  if (FUNCTIONS.has(word) || CONSTANTS[word] !== undefined || word === 'sqrt') return undefined
  const unit = findUnit(word, marked)
  if (unit !== undefined) {
    return { kind: 'symbol', name: unit.base, unit: true, factor: unit.factor }
  }
  // Something counted: a word, or an abbreviation in the plural such as DVDs; never a run that may be variables.
  if (!marked && !(word.length < 4 ? /^[A-Z]{2}s$/ : /^(?:[A-Za-z]?[a-z]+|[A-Z]{2,}s)$/).test(word)) return undefined
  return { kind: 'symbol', name: lower.length > 3 ? lower.replace(/s$/, '') : lower, unit: true }
}

/** The words of a \text after a value. */
function textUnit(text: string): Node | undefined {
  const parts = text
    .replace(/[.,;]+$/, '')
    .split(/\s*(\/)\s*|\s+/)
    .filter((part) => part)
  let node: Node | undefined
  let exponent = 1
  let divides = false
  for (const part of parts) {
    if (part === '/' || part === 'per') {
      divides = true
      continue
    }
    const pending = pendingExponent(part.replace('.', ''))
    if (pending > 1) {
      exponent = pending
      continue
    }
    const match = /^([A-Za-z]+)(?:\^\{?(\d)\}?)?$/.exec(part.replace(/\.(?!\d)/g, ''))
    const unit = match ? unitWord(match[1]!, true) : undefined
    if (unit === undefined) return undefined
    const e = exponent * Number(match?.[2] ?? 1)
    const factor: Node = e === 1 ? unit : { kind: 'power', left: unit, right: whole(e) }
    if (divides) node = { kind: 'divide', left: node ?? whole(1), right: factor }
    else node = times(node, factor)
    exponent = 1
    divides = false
  }
  return node
}

/** A \text where a value is expected: an operator name, a letter, or words. */
export function textPrimary(cursor: Cursor, text: string): Node {
  const fn = FUNCTION_NAMES[text] ?? text
  if (FUNCTIONS.has(fn)) return functionCall(cursor, fn)
  if (text.length === 1) return CONSTANTS[text] ?? subscripted(cursor, text)
  const words = text.replace(/[.,;]+$/, '')
  if (cursor.next?.kind === 'word') return prose(cursor, words)
  return { kind: 'text', text: words.toLowerCase().replace(/^\((.*)\)$/, '$1') }
}
