import { TrinityError } from '../../../base/error.js'

/** A nested list of words, as PDDL is written. */
export type Lisp = string | readonly Lisp[]

/** No formula of a game comes near it; what is deeper would overflow the stack of whoever walks it. */
const MAX_DEPTH = 200

/** The one list of a PDDL text, in lower case: PDDL does not distinguish. A semicolon begins a comment. */
export function readLisp(text: string, path: string): readonly Lisp[] {
  const lower = text.toLowerCase()
  const stack: Lisp[][] = []
  let whole: Lisp[] | undefined
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at)
    if (isBlank(code)) continue
    if (code === SEMICOLON) {
      const end = lower.indexOf('\n', at)
      at = end < 0 ? lower.length : end
      continue
    }
    if (whole) throw broken('something stands after the last parenthesis', path)
    if (code === OPEN) {
      if (stack.length >= MAX_DEPTH) throw broken(`parentheses are nested more than ${MAX_DEPTH} deep`, path)
      stack.push([])
    } else if (stack.length === 0) {
      throw broken(`it begins with '${lower.slice(at, at + 40)}' instead of a parenthesis`, path)
    } else if (code === CLOSE) {
      const list = stack.pop()!
      if (stack.length > 0) stack[stack.length - 1].push(list)
      else whole = list
    } else {
      let end = at + 1
      while (end < lower.length && !isEnd(lower.charCodeAt(end))) end++
      stack[stack.length - 1].push(lower.slice(at, end))
      at = end - 1
    }
  }
  if (!whole) throw broken('a closing parenthesis is missing', path)
  return whole
}

const [OPEN, CLOSE, SEMICOLON, QUESTION] = ['(', ')', ';', '?'].map((mark) => mark.charCodeAt(0))

function isBlank(code: number): boolean {
  return code <= 32
}

/** Words end at blanks and marks; a question mark begins another. */
function isEnd(code: number): boolean {
  return isBlank(code) || code === OPEN || code === CLOSE || code === SEMICOLON || code === QUESTION
}

/** Longest description in an error message, in characters: it may quote the file. */
const LONGEST = 300

/** Error of a game whose text cannot be read. */
export function broken(what: string, path: string, hint?: string): TrinityError {
  return new TrinityError('environment/pddl', `cannot read the game: ${what.slice(0, LONGEST)}`, { path, hint })
}

/** A list, where one must be. */
export function listOf(lisp: Lisp | undefined, what: string, path: string): readonly Lisp[] {
  if (Array.isArray(lisp)) return lisp
  throw broken(lisp === undefined ? `${what} is missing` : `${what} is '${lisp}' instead of a list`, path)
}

/** A word, where one must be. */
export function wordOf(lisp: Lisp | undefined, what: string, path: string): string {
  if (typeof lisp === 'string') return lisp
  throw broken(lisp === undefined ? `${what} is missing` : `${what} is a list instead of a word`, path)
}

/** The sections `(:name …)` of a definition. */
export function sectionsOf(text: string, path: string): readonly (readonly Lisp[])[] {
  const [define, ...sections] = readLisp(text, path)
  if (define !== 'define') throw broken("it does not begin with '(define'", path)
  return sections.map((section) => listOf(section, 'a section', path))
}
