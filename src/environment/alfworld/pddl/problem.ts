import { checkAtom, checkAtoms, type Domain } from './domain.js'
import { type Atom, type Formula, readAtom, readFormula } from './formula.js'
import { broken, listOf, sectionsOf } from './lisp.js'
import { readTyped, type Typed } from './types.js'

/** One situation in a domain: what there is, what holds at the start, what is to be reached. */
export interface Problem {
  readonly objects: readonly Typed[]
  readonly init: readonly Atom[]
  readonly goal: Formula
}

export function readProblem(text: string, domain: Domain, path: string): Problem {
  const sections = new Map(sectionsOf(text, path).map(([head, ...rest]) => [head, rest]))
  const need = (name: string) => {
    const section = sections.get(name)
    if (section) return section
    throw broken(`the problem has no section '${name}'`, path, 'a problem needs :objects, :init and :goal')
  }
  const objects = [...domain.constants, ...readTyped(need(':objects'), path)]
  const types = new Map(objects.map(({ name, type }) => [name, type]))
  if (types.size < objects.length) throw broken('an object is declared twice', path)
  const init: Atom[] = []
  for (const fact of need(':init')) {
    // Numbers, such as distances, are for planners.
    const list = listOf(fact, 'a fact of :init', path)
    if (list[0] === '=') continue
    const atom = readAtom(list, path) as Atom
    checkAtom(atom, domain, ':init', path)
    for (const term of atom.terms) {
      if (!types.has(term)) throw broken(`:init names the object '${term}', which is not in :objects`, path)
    }
    init.push(atom)
  }
  const goal = readFormula(need(':goal')[0], path)
  checkAtoms(goal, domain, ':goal', path)
  return { objects, init, goal }
}
