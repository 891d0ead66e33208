import { closingBrace } from './group.js'
import { STYLE_COMMANDS, SYNONYMS, splitCommand, TEXT_COMMANDS, UNICODE } from './vocabulary.js'

export interface Token {
  kind: 'number' | 'word' | 'command' | 'op' | 'text'
  text: string
  /** Digits under a bar after a number. */
  repeating?: string
  /** Whether white space came before it. */
  spaced: boolean
}

export interface LexOptions {
  /** Whether `1,234` outside brackets is one number. */
  thousands: boolean
}

const NUMBER = /\d+(?:\.\d+|\.(?!\d))?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/y
const GROUPED =
  /\d{1,3}(?:(?:\{,\}|,\\!\s*|\\,|,\\,)\d{3})+(?!\d)(?:\.\d+)?|[1-9]\d{0,2}(?: \d{3})+(?!\s*[\d/])(?:\.\d+)?/y
const GROUPED_PLAIN = /\d{1,3}(?:(?:,|\{,\}|,\\!\s*|\\,)\d{3})+(?![\d]|,\d)(?:\.\d+)?/y
const REPEATING = /\\(?:overline|bar)\s*\{(\d+)\}/y
const WORD = /[A-Za-z]+/y
const COMMAND = /\\([A-Za-z]+)\s*/y

/** Splits an answer, LaTeX or plain, into tokens. Spacing, sizes and fonts leave no trace. Never throws. */
export function lex(source: string, options: LexOptions): Token[] {
  const text = source.replace(UNICODE_PATTERN, (c) => UNICODE[c] ?? c)
  const tokens: Token[] = []
  let at = 0
  let depth = 0
  let spaced = false
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  const push = (kind: Token['kind'], value: string) => {
    tokens.push({ kind, text: value, spaced })
    spaced = false
  }
  while (at < text.length) {
    const c = text[at]!
    if (c === ' ' || c === '\n' || c === '\t' || c === '\r' || c === '~' || c === '$') {
      at++
      spaced = true
    } else if ((c >= '0' && c <= '9') || (c === '.' && /\d|\\overline|\\bar/y.test(text.slice(at + 1, at + 11)))) {
      const match = read(GROUPED) ?? (options.thousands && depth === 0 ? read(GROUPED_PLAIN) : null) ?? read(NUMBER)
      let digits = match ? match[0].replace(/[^\d.eE+-]/g, '') : text[at++]!
      const repeating = digits.includes('.') ? read(REPEATING)?.[1] : undefined
      if (digits.endsWith('.')) digits = digits.slice(0, -1) || '0'
      push('number', match?.[0].startsWith('.') ? `0${digits}` : digits)
      if (repeating !== undefined) {
        const last = tokens[tokens.length - 1]!
        last.repeating = repeating
        if (!last.text.includes('.')) last.text += '.'
      }
    } else if (/[A-Za-z]/.test(c)) {
      push('word', read(WORD)![0])
    } else if (c === '\\') {
      lexCommand()
    } else if (c === '{' && text[at + 1] === '}') {
      at += 2
    } else if (c === '{' && text.startsWith('{,}', at)) {
      at += 3
      push('op', ',')
    } else {
      const two = text.slice(at, at + 2)
      const op = two === '**' || two === '<=' || two === '>=' || two === '!=' ? two : c
      at += op.length
      if (op === '(' || op === '[') depth++
      if (op === ')' || op === ']') depth--
      push('op', SYNONYMS[op] ?? op)
    }
  }
  return tokens

  function lexCommand(): void {
    const match = read(COMMAND)
    if (!match) {
      const next = text[at + 1] ?? ''
      at += 2
      if (',;:! ()[]'.includes(next)) spaced = true
      else if (next === '{' || next === '}') {
        depth += next === '{' ? 1 : -1
        push('op', next === '{' ? '\\{' : '\\}')
      } else if (next === '|' || next === '%' || next === '$') push('op', next)
      else {
        // `\\` ends a row; a lone backslash before a digit or a sign is one that lost its twin on the way.
        push('op', '\\\\')
        if (next !== '\\') at--
      }
      return
    }
    const name = match[1]!
    if (STYLE_COMMANDS.has(name)) spaced = true
    else if (TEXT_COMMANDS.has(name)) lexText()
    else {
      const [known, rest] = splitCommand(name)
      // 90\degree is 90^\circ.
      if (known === 'degree' && !/\^\s*\{?\s*$/.test(text.slice(Math.max(0, match.index - 4), match.index)))
        push('op', '^')
      const op = SYNONYMS[`\\${known}`]
      if (op !== undefined) push(op.length > 2 ? 'command' : 'op', op)
      else push('command', known)
      if (rest !== '') push('word', rest)
    }
  }

  function lexText(): void {
    if (text[at] !== '{') return
    const end = closingBrace(text, at)
    const content = text.slice(at + 1, end < 0 ? text.length : end - 1)
    at = end < 0 ? text.length : end
    const words = content
      .replace(/[\s~]+/g, ' ')
      .replace(/\\[ ,;:!]/g, ' ')
      .trim()
    if (words === '') return
    // Numbers and signs inside \text are numbers and signs.
    if (/[A-Za-z]/.test(words) || words.length > 40) {
      for (const [k, part] of words.split(/\s*,\s*/).entries()) {
        if (k > 0) push('op', ',')
        if (part !== '') push('text', part)
      }
    } else for (const token of lex(words, options)) tokens.push(token)
  }
}

const UNICODE_PATTERN = /[\u0080-\uffff]/g
