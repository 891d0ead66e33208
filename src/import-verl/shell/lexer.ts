import { TrinityError } from '../../base/error.js'
import { readBraced, readHeredoc, readParens, readSingleQuoted, SourceText } from './source.js'

/** A piece of a word. `quoted` pieces are never split into fields. */
export type Part =
  | { kind: 'text'; text: string; quoted: boolean }
  /** What stands in `${…}` or after `$`: `HOME`, `x:-y`, `a[@]`. */
  | { kind: 'param'; body: string; quoted: boolean }
  | { kind: 'arith'; body: string; quoted: boolean }
  | { kind: 'command'; body: string; quoted: boolean }

export interface Word {
  kind: 'word'
  parts: Part[]
  line: number
}
export interface ArrayLiteral {
  kind: 'array'
  name: string
  append: boolean
  words: Word[]
  line: number
}
export interface Heredoc {
  kind: 'heredoc'
  body: string
  /** The delimiter was quoted: nothing in the body is expanded. */
  literal: boolean
  line: number
}
export type Token =
  | Word
  | ArrayLiteral
  | Heredoc
  | { kind: 'op'; text: string; line: number }
  | { kind: 'arith'; body: string; line: number }

const OPERATORS = ['&&', '||', ';;&', ';;', ';&', '|&', ';', '&', '|', '(', ')']
const WORD_END = new Set([' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>', ''])
const ARRAY_HEAD = /^([A-Za-z_]\w*)(\+?)=$/

/** Shell text to words, operators, array literals and here-documents. Redirections are dropped: they carry no setting. */
export function tokenize(text: string): Token[] {
  const source = new SourceText(text)
  const tokens: Token[] = []
  const waiting: { delimiter: string; literal: boolean; indented: boolean; token: Heredoc }[] = []
  for (;;) {
    skipBlanks(source)
    const line = source.line
    const c = source.peek()
    if (c === '') break
    if (c === '\n') {
      source.next()
      tokens.push({ kind: 'op', text: '\n', line })
      for (const doc of waiting.splice(0)) doc.token.body = readHeredoc(source, doc.delimiter, doc.indented)
    } else if (c === '#') {
      source.skipLine()
    } else if (source.starts('((') && atCommandStart(tokens)) {
      source.skip(2)
      tokens.push({ kind: 'arith', body: readParens(source, 2), line })
    } else if (isRedirection(source)) {
      const doc = readRedirection(source, line)
      if (doc) {
        waiting.push(doc)
        tokens.push(doc.token)
      }
    } else {
      const operator = OPERATORS.find((op) => source.starts(op))
      if (operator) {
        source.skip(operator.length)
        tokens.push({ kind: 'op', text: operator, line })
      } else {
        tokens.push(readWordOrArray(source))
      }
    }
  }
  for (const doc of waiting) doc.token.body = readHeredoc(source, doc.delimiter, doc.indented)
  return tokens
}

/** The text of a word that has no quotes and no expansions: the only words that can be keywords. */
export function plainText(token: Token | undefined): string | undefined {
  if (token?.kind !== 'word') return undefined
  let text = ''
  for (const part of token.parts) {
    if (part.kind !== 'text' || part.quoted) return undefined
    text += part.text
  }
  return text
}

function atCommandStart(tokens: Token[]): boolean {
  const last = tokens.at(-1)
  if (last === undefined) return true
  if (last.kind === 'op') return last.text !== ')'
  return ['if', 'elif', 'while', 'until', 'then', 'else', 'do', 'for', '!', '{'].includes(plainText(last) ?? '')
}

function skipBlanks(source: SourceText): void {
  for (;;) {
    const c = source.peek()
    if (c === ' ' || c === '\t' || c === '\r') source.next()
    else if (c === '\\' && source.peek(1) === '\n') source.skip(2)
    else if (c === '\\' && source.peek(1) === '\r' && source.peek(2) === '\n') source.skip(3)
    else return
  }
}

function isRedirection(source: SourceText): boolean {
  let i = 0
  while (source.peek(i) >= '0' && source.peek(i) <= '9') i++
  const c = source.peek(i)
  if (c === '&' && i === 0) return source.peek(1) === '>'
  return (c === '<' || c === '>') && source.peek(i + 1) !== '('
}

function readRedirection(source: SourceText, line: number) {
  while (source.peek() >= '0' && source.peek() <= '9') source.next()
  const operator = ['<<<', '<<-', '<<', '&>>', '&>', '>>', '>&', '<&', '<>', '>|', '>', '<'].find((o) =>
    source.starts(o),
  )!
  source.skip(operator.length)
  skipBlanks(source)
  if (WORD_END.has(source.peek())) return undefined
  const word = readWord(source)
  if (operator !== '<<' && operator !== '<<-') return undefined
  const delimiter = word.parts.map((part) => (part.kind === 'text' ? part.text : `$${part.body}`)).join('')
  const literal = word.parts.some((part) => part.quoted)
  const token: Heredoc = { kind: 'heredoc', body: '', literal, line }
  return { delimiter, literal, indented: operator === '<<-', token }
}

function readWordOrArray(source: SourceText): Word | ArrayLiteral {
  const word = readWord(source)
  const head = source.peek() === '(' ? ARRAY_HEAD.exec(plainText(word) ?? '') : null
  if (!head) return word
  source.next()
  const words: Word[] = []
  for (;;) {
    skipBlanks(source)
    const c = source.peek()
    if (c === '') throw shellError(`the array ${head[1]}=( is not closed`, word.line, 'add the missing )')
    if (c === '\n') source.next()
    else if (c === '#') source.skipLine()
    else if (c === ')') break
    else if (WORD_END.has(c)) source.next()
    else words.push(readWord(source))
  }
  source.next()
  return { kind: 'array', name: head[1], append: head[2] === '+', words, line: word.line }
}

/** One word; the caller has seen that it does not begin with a blank or an operator (`<(` and `>(` excepted). */
function readWord(source: SourceText): Word {
  const word: Word = { kind: 'word', parts: [], line: source.line }
  for (;;) {
    const c = source.peek()
    if ((c === '<' || c === '>') && source.peek(1) === '(' && word.parts.length === 0) {
      source.skip(2)
      word.parts.push({ kind: 'command', body: readParens(source, 1), quoted: true })
    } else if (WORD_END.has(c)) {
      return word
    } else if (c === '\\') {
      source.next()
      const escaped = source.next()
      if (escaped !== '\n' && escaped !== '') addText(word, escaped, true)
    } else if (c === "'") {
      source.next()
      addText(word, readSingleQuoted(source), true)
    } else if (c === '"') {
      source.next()
      readDoubleQuoted(source, word)
    } else if (c === '$' || c === '`') {
      readDollar(source, word, false)
    } else {
      addText(word, source.next(), false)
    }
  }
}

/** The inside of "…" after the opening quote; also used for here-documents, which end at the end of the text. */
export function readDoubleQuoted(source: SourceText, word: Word, end = '"'): void {
  const line = source.line
  addText(word, '', true)
  for (;;) {
    const c = source.peek()
    if (c === '') {
      if (end === '') return
      throw shellError('a double quote is not closed', line, 'add the missing "')
    }
    if (c === end) {
      source.next()
      return
    }
    if (c === '\\') {
      source.next()
      const escaped = source.next()
      if (escaped === '\n') continue
      addText(word, ['$', '`', '"', '\\'].includes(escaped) ? escaped : `\\${escaped}`, true)
    } else if (c === '$' || c === '`') {
      readDollar(source, word, true)
    } else {
      addText(word, source.next(), true)
    }
  }
}

function readDollar(source: SourceText, word: Word, quoted: boolean): void {
  if (source.next() === '`') {
    let body = ''
    while (source.peek() !== '`' && source.peek() !== '')
      body += source.peek() === '\\' ? source.skip(1) + source.next() : source.next()
    source.next()
    word.parts.push({ kind: 'command', body, quoted })
    return
  }
  const c = source.peek()
  if (source.starts('((')) {
    source.skip(2)
    word.parts.push({ kind: 'arith', body: readParens(source, 2), quoted })
  } else if (c === '(') {
    source.next()
    word.parts.push({ kind: 'command', body: readParens(source, 1), quoted })
  } else if (c === '{') {
    source.next()
    word.parts.push({ kind: 'param', body: readBraced(source), quoted })
  } else if (!quoted && c === "'") {
    source.next()
    addText(word, readSingleQuoted(source, true), true)
  } else if (!quoted && c === '"') {
    source.next()
    readDoubleQuoted(source, word)
  } else if (/[A-Za-z_]/.test(c)) {
    let name = ''
    while (/\w/.test(source.peek())) name += source.next()
    word.parts.push({ kind: 'param', body: name, quoted })
  } else if (/[0-9@*#?$!-]/.test(c)) {
    word.parts.push({ kind: 'param', body: source.next(), quoted })
  } else {
    addText(word, '$', quoted)
  }
}

function addText(word: Word, text: string, quoted: boolean): void {
  const last = word.parts.at(-1)
  if (last?.kind === 'text' && last.quoted === quoted) last.text += text
  else word.parts.push({ kind: 'text', text, quoted })
}

export function shellError(message: string, line: number, hint?: string): TrinityError {
  return new TrinityError('verl/shell-syntax', message, { path: `line ${line}`, hint })
}
