import { broken } from './twl2.js'

/** What is known about an object. */
export interface Entity {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly definite: string
  readonly indefinite: string
}

/** Finds the object that a variable of the text stands for. */
export type Lookup = (variable: string) => Entity

const ATTRIBUTES = ['id', 'name', 'type', 'definite', 'indefinite'] as const

/**
 * The few expressions that texts use: `o.name`, `o`, `'word'`, sums of these with `+`, and `a or b` for the first that
 * is not empty.
 */
export function readExpression(code: string, path: string): (of: Lookup) => string {
  const choices = code.split(/\bor\b/).map((part) => part.split('+').map((term) => readTerm(term.trim(), code, path)))
  return (of) => {
    let text = ''
    for (const terms of choices) {
      text = terms.length === 1 ? terms[0](of) : terms.map((term) => term(of)).join('')
      if (text !== '') break
    }
    return text
  }
}

function readTerm(term: string, code: string, path: string): (of: Lookup) => string {
  const quoted = /^(?:'([^'\\]*)'|"([^"\\]*)")$/.exec(term)
  if (quoted) return () => quoted[1] ?? quoted[2]
  const [, variable, attribute = 'name'] = /^([A-Za-z_]\w*)(?:\.(\w+))?$/.exec(term) ?? []
  const known = ATTRIBUTES.find((name) => name === attribute)
  if (variable === undefined || !known) {
    throw broken(`the expression '${code.slice(0, 80)}' is not understood`, path)
  }
  return (of) => of(variable)[known]
}
