import { broken } from './twl2.js'

/** What is known about an object. */
export interface Entity {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly definite: string
  readonly indefinite: string
}

const ATTRIBUTES = ['id', 'name', 'type', 'definite', 'indefinite'] as const

/**
 * The few expressions that texts use: `o.name`, `o`, `'word'`, sums of these with `+`, and `a or b` for the first that
 * is not empty. `find` gives what finds the object of a variable where the text is written.
 */
export function readExpression<W>(
  code: string,
  path: string,
  find: (variable: string) => (where: W) => Entity,
): (where: W) => string {
  const choices = code.split(/\bor\b/).map((part) => {
    const terms = part.split('+').map((term) => readTerm(term.trim(), code, path, find))
    return terms.reduce((left, right) => (where) => left(where) + right(where))
  })
  return choices.reduce((left, right) => (where) => left(where) || right(where))
}

function readTerm<W>(
  term: string,
  code: string,
  path: string,
  find: (variable: string) => (where: W) => Entity,
): (where: W) => string {
  const quoted = /^(?:'([^'\\]*)'|"([^"\\]*)")$/.exec(term)
  if (quoted) return () => quoted[1] ?? quoted[2]
  const [, variable, attribute = 'name'] = /^([A-Za-z_]\w*)(?:\.(\w+))?$/.exec(term) ?? []
  const known = ATTRIBUTES.find((name) => name === attribute)
  if (variable === undefined || !known) {
    throw broken(`the expression '${code.slice(0, 80)}' is not understood`, path)
  }
  const entity = find(variable)
  return (where) => entity(where)[known]
}
