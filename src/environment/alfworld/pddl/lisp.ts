import { TrinityError } from '../../../base/error.js'

/** A nested list of words, as PDDL is written. */
export type Lisp = string | readonly Lisp[]

/** No formula of a game comes near it; what is deeper would overflow the stack of whoever walks it. */
const MAX_DEPTH = 200

/** Words end at blanks and parentheses; a question mark begins one. A semicolon begins a comment. */
const WORD = /;[^\n]*|[()]|\??[^\s()?;]+|\?/g

/** The one list of a PDDL text, in lower case: PDDL does not distinguish. */
export function readLisp(text: string, path: string): readonly Lisp[] {
  const stack: Lisp[][] = []
  let whole: Lisp[] | undefined
  for (const [word] of text.matchAll(WORD)) {
    if (word[0] === ';') continue
    if (whole) throw broken('something stands after the last parenthesis', path)
    if (word === '(') {
      if (stack.length >= MAX_DEPTH) throw broken(`parentheses are nested more than ${MAX_DEPTH} deep`, path)
      stack.push([])
    } else if (stack.length === 0) {
      throw broken(`it begins with '${word.slice(0, 40)}' instead of a parenthesis`, path)
    } else if (word === ')') {
      const list = stack.pop()!
      if (stack.length > 0) stack.at(-1)!.push(list)
      else whole = list
    } else stack.at(-1)!.push(word.toLowerCase())
  }
  if (!whole) throw broken('a closing parenthesis is missing', path)
  return whole
}

/** What is wrong with a text of a game. */
export function broken(what: string, path: string, hint?: string): TrinityError {
  return new TrinityError('environment/pddl', `cannot read the game: ${what}`, { path, hint })
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
