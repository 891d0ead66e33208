import { evaluateArithmetic } from './arith.js'
import { type Part, readDoubleQuoted, shellError, tokenize, type Word } from './lexer.js'
import { globToRegExp } from './pattern.js'
import { SourceText } from './source.js'
import { substitute } from './substitution.js'
import { isOpen, type Variables } from './variables.js'

const MAX_DEPTH = 50
/** Guards against scripts whose expansions grow without end (`a=$a$a` in a loop). */
const MAX_LENGTH = 200_000

/** A word to its fields: quotes removed, expansions done, unquoted results split at blanks. */
export function expandWord(word: Word, variables: Variables, depth = 0): string[] {
  const fields: string[] = []
  let current: string | undefined
  const add = (text: string) => {
    current = (current ?? '') + text
    if (current.length > MAX_LENGTH) throw shellError('a word expands to over 200000 characters', word.line)
  }
  const split = () => {
    if (current !== undefined) fields.push(current)
    current = undefined
  }
  word.parts.forEach((part, index) => {
    if (part.kind === 'text') {
      const text = index === 0 && !part.quoted ? part.text.replace(/^~(?=\/)/, '${oc.env:HOME}') : part.text
      if (part.quoted || text !== '') add(text)
      return
    }
    const values = expandPart(part, variables, word.line, depth)
    if (part.quoted) {
      values.forEach((value, i) => {
        if (i > 0) split()
        add(value)
      })
      return
    }
    values.forEach((value, i) => {
      if (i > 0) split()
      const pieces = value.split(/[ \t\n]+/)
      pieces.forEach((piece, j) => {
        if (j > 0) split()
        if (piece !== '') add(piece)
      })
    })
  })
  split()
  return fields
}

/** A word as one text, as in an assignment or in a here-document: nothing is split. */
export function expandText(word: Word, variables: Variables, depth = 0): string {
  const text = word.parts
    .map((part, index) => {
      if (part.kind !== 'text') return expandPart(part, variables, word.line, depth).join(' ')
      return index === 0 && !part.quoted ? part.text.replace(/^~(?=\/|$)/, '${oc.env:HOME}') : part.text
    })
    .join('')
  if (text.length > MAX_LENGTH) throw shellError('a word expands to over 200000 characters', word.line)
  return text
}

/** Expands text that is not a word of the script itself: a default inside `${x:-…}`, the body of a here-document. */
export function expandSource(text: string, variables: Variables, line: number, depth: number): string {
  const word: Word = { kind: 'word', parts: [], line }
  readDoubleQuoted(new SourceText(text), word, '')
  return expandText(word, variables, depth)
}

function expandPart(
  part: Exclude<Part, { kind: 'text' }>,
  variables: Variables,
  line: number,
  depth: number,
): string[] {
  if (depth > MAX_DEPTH) throw shellError('expansions are nested over 50 deep', line)
  if (part.kind === 'arith') return [expandArithmetic(part.body, variables, line, depth)]
  if (part.kind === 'command') return [substitute(part.body, variables, line, depth + 1)]
  return expandParameter(part.body, variables, line, depth + 1)
}

function expandArithmetic(body: string, variables: Variables, line: number, depth: number): string {
  const text = expandSource(body, variables, line, depth + 1)
  const value = isOpen(text) ? undefined : evaluateArithmetic(text, (name) => variables.get(name))
  return value === undefined ? variables.markUnknown(`$((${body.trim()}))`, line) : String(value)
}

const PARAMETER = /^([#!]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[([^\]]*)\])?([\s\S]*)$/

function expandParameter(body: string, variables: Variables, line: number, depth: number): string[] {
  const match = body === '#' ? null : PARAMETER.exec(body)
  if (!match)
    return [body === '#' ? String(variables.positional?.length ?? 0) : variables.markUnknown(`\${${body}}`, line)]
  const [, prefix, name, index, operation] = match
  const all = index === '@' || index === '*' || (index === undefined && (name === '@' || name === '*'))
  if (all) {
    const values = name === '@' || name === '*' ? (variables.positional ?? []) : arrayOf(name, variables)
    if (prefix === '#') return [String(values.length)]
    if (prefix === '!') return [...(variables.arrays.get(name)?.keys() ?? [])]
    return operation === '' ? values : expandAll(values, operation, variables, line, depth)
  }
  let target = name
  if (prefix === '!') {
    target = variables.get(name) ?? ''
    if (!/^[A-Za-z_]\w*$/.test(target)) return [variables.markUnknown(`\${${body}}`, line)]
  }
  const assigned =
    index === undefined ? scalarOf(target, variables, line) : elementOf(target, index, variables, line, depth)
  if (prefix === '#') {
    const known = assigned ?? ''
    return [isOpen(known) ? variables.markUnknown(`\${${body}}`, line) : String(known.length)]
  }
  return [applyOperation(target, assigned, operation, body, variables, line, depth)]
}

function arrayOf(name: string, variables: Variables): string[] {
  const array = variables.arrays.get(name)
  if (array) return [...array.values()]
  const scalar = variables.scalars.get(name)
  return scalar === undefined ? [] : [scalar]
}

/** `${a[@]:1:2}`, `${a[@]:-x}` and the pattern operations on every element. */
function expandAll(values: string[], operation: string, variables: Variables, line: number, depth: number): string[] {
  if (/^:?[-=]/.test(operation)) {
    return values.length > 0 ? values : [expandSource(operation.replace(/^:?[-=]/, ''), variables, line, depth)]
  }
  const slice = /^:\s*(\d+)(?::\s*(\d+))?$/.exec(operation)
  if (slice) {
    const from = Math.max(0, Number(slice[1]) - 1)
    return values.slice(from, slice[2] === undefined ? undefined : from + Number(slice[2]))
  }
  return values.map((value) => applyOperation('', value, operation, operation, variables, line, depth))
}

function scalarOf(name: string, variables: Variables, line: number): string | undefined {
  if (/^\d+$/.test(name)) {
    if (name === '0') return variables.scriptName
    const value = variables.positional?.[Number(name) - 1]
    return value ?? undefined
  }
  if (name === 'BASH_SOURCE') return variables.scriptName
  if (['RANDOM', 'SECONDS', '?', '$', '!', '-', 'LINENO', 'EPOCHSECONDS', 'OPTARG', 'OPTIND'].includes(name)) {
    return variables.get(name) ?? variables.markUnknown(`$${name}`, line)
  }
  return variables.get(name)
}

function elementOf(name: string, index: string, variables: Variables, line: number, depth: number): string | undefined {
  if (name === 'BASH_SOURCE') return variables.scriptName
  const array = variables.arrays.get(name)
  const text = expandSource(index, variables, line, depth).replace(/^["']|["']$/g, '')
  if (array === undefined) return text === '0' ? variables.get(name) : undefined
  if (array.has(text)) return array.get(text)
  const number = evaluateArithmetic(text, (variable) => variables.get(variable))
  return number === undefined ? undefined : [...array.values()].at(number)
}

function applyOperation(
  name: string,
  assigned: string | undefined,
  operation: string,
  body: string,
  variables: Variables,
  line: number,
  depth: number,
): string {
  const fallback = /^(:?)([-=?+])([\s\S]*)$/.exec(operation)
  if (fallback) {
    const set = assigned !== undefined && !(fallback[1] === ':' && assigned === '')
    if (fallback[2] === '+') return set ? expandDefault(fallback[3], variables, line, depth) : ''
    if (set) return assigned
    if (fallback[2] === '?') return reference(name, variables, line)
    const value = expandDefault(fallback[3], variables, line, depth)
    if (assigned === undefined && /^[A-Za-z_]/.test(name)) variables.defaults.set(name, value)
    if (fallback[2] === '=') variables.set(name, value)
    return value
  }
  if (operation === '') return assigned ?? reference(name, variables, line)
  if (assigned === undefined) return variables.markUnknown(`\${${body}}`, line)
  const changed = change(assigned, operation, variables, line, depth)
  const spoilt =
    changed === undefined || (isOpen(changed) && !assigned.endsWith(changed) && !assigned.startsWith(changed))
  return spoilt || (changed === assigned && isOpen(assigned)) ? variables.markUnknown(`\${${body}}`, line) : changed
}

/** A default keeps its own quotes: `${X:-"a b"}` is `a b`. */
function expandDefault(text: string, variables: Variables, line: number, depth: number): string {
  if (!/['"]/.test(text)) return expandSource(text, variables, line, depth)
  const words = tokenize(text.replace(/[\n;&|()<>#]/g, (c) => `\\${c}`))
  return words.map((word) => (word.kind === 'word' ? expandText(word, variables, depth) : '')).join(' ')
}

function reference(name: string, variables: Variables, line: number): string {
  if (/^\d+$/.test(name)) return variables.markUnknown(`$${name}`, line)
  return /^[A-Za-z_]/.test(name) ? `\${oc.env:${name}}` : variables.markUnknown(`$${name}`, line)
}

/** `#` `##` `%` `%%` `/` `//` `^^` `,,` and `:offset:length` on a known text. */
function change(
  value: string,
  operation: string,
  variables: Variables,
  line: number,
  depth: number,
): string | undefined {
  if (/^\^\^?$/.test(operation))
    return operation === '^^' ? value.toUpperCase() : value.slice(0, 1).toUpperCase() + value.slice(1)
  if (/^,,?$/.test(operation))
    return operation === ',,' ? value.toLowerCase() : value.slice(0, 1).toLowerCase() + value.slice(1)
  const slice = /^:\s*(-?\d+)(?::(-?\d+))?$/.exec(operation)
  if (slice) {
    const from = Number(slice[1])
    const start = from < 0 ? Math.max(0, value.length + from) : from
    const length = slice[2] === undefined ? value.length : Number(slice[2])
    return length < 0 ? value.slice(start, length) : value.slice(start, start + length)
  }
  const trim = /^(##?|%%?)([\s\S]*)$/.exec(operation)
  if (trim) return trimPattern(value, trim[1], expandDefault(trim[2], variables, line, depth))
  const replace = /^(\/\/?)((?:[^/\\]|\\.)+)(?:\/([\s\S]*))?$/.exec(operation)
  if (!replace) return undefined
  const pattern = globToRegExp(expandDefault(replace[2], variables, line, depth), { global: replace[1] === '//' })
  const by = expandDefault(replace[3] ?? '', variables, line, depth)
  return pattern && value.replace(pattern, () => by)
}

function trimPattern(value: string, operator: string, glob: string): string | undefined {
  const pattern = globToRegExp(glob, { whole: true })
  if (!pattern || value.length > 4000) return undefined
  const ends = Array.from({ length: value.length + 1 }, (_, i) => (operator.length === 2 ? value.length - i : i))
  for (const end of ends) {
    if (operator[0] === '#' && pattern.test(value.slice(0, end))) return value.slice(end)
    if (operator[0] === '%' && pattern.test(value.slice(value.length - end))) return value.slice(0, value.length - end)
  }
  return value
}
