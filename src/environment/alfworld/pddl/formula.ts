import { broken, type Lisp, listOf, wordOf } from './lisp.js'
import { readTyped, type Typed } from './types.js'

/** Terms are names: those that begin with `?` are variables. */
export interface Atom {
  readonly kind: 'atom'
  readonly predicate: string
  readonly terms: readonly string[]
}

export type Formula =
  | Atom
  | { readonly kind: 'equal'; readonly terms: readonly string[] }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and'; readonly parts: readonly Formula[] }
  | { readonly kind: 'or'; readonly parts: readonly Formula[] }
  | { readonly kind: 'exists' | 'forall'; readonly variables: readonly Typed[]; readonly of: Formula }

export const isVariable = (term: string) => term.startsWith('?')

/** Always true. */
export const TRUE: Formula = { kind: 'and', parts: [] }

/** A condition; the empty list is always true. */
export function readFormula(lisp: Lisp | undefined, path: string): Formula {
  const [head, ...rest] = listOf(lisp, 'a condition', path)
  if (head === undefined) return TRUE
  const parts = () => rest.map((part) => readFormula(part, path))
  switch (head) {
    case 'and':
    case 'or':
      return { kind: head, parts: parts() }
    case 'not':
      return { kind: 'not', of: one(rest, 'not', path) }
    case 'imply': {
      if (rest.length !== 2) throw broken(`'imply' has ${rest.length} parts instead of 2`, path)
      const [left, right] = parts()
      return { kind: 'or', parts: [{ kind: 'not', of: left }, right] }
    }
    case 'exists':
    case 'forall': {
      const variables = readTyped(listOf(rest[0], `the variables of '${head}'`, path), path)
      return { kind: head, variables, of: one(rest.slice(1), head, path) }
    }
    default:
      return readAtom([head, ...rest], path)
  }
}

function one(parts: readonly Lisp[], what: string, path: string): Formula {
  if (parts.length !== 1) throw broken(`'${what}' has ${parts.length} conditions instead of one`, path)
  return readFormula(parts[0], path)
}

/** `(predicate term …)`, or an equation of two terms. */
export function readAtom(list: readonly Lisp[], path: string): Atom | Extract<Formula, { kind: 'equal' }> {
  const predicate = wordOf(list[0], 'a predicate', path)
  const terms = list.slice(1).map((term) => wordOf(term, `a term of '${predicate}'`, path))
  if (predicate !== '=') return { kind: 'atom', predicate, terms }
  if (terms.length !== 2) throw broken(`'=' has ${terms.length} terms instead of 2`, path)
  return { kind: 'equal', terms }
}

/** Every atom of a formula, wherever it stands. */
export function* atomsOf(formula: Formula): Generator<Atom> {
  if (formula.kind === 'atom') yield formula
  else if ('parts' in formula) for (const part of formula.parts) yield* atomsOf(part)
  else if (formula.kind !== 'equal') yield* atomsOf(formula.of)
}
