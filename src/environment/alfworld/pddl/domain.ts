import { type Atom, atomsOf, type Formula, readAtom, readFormula, TRUE } from './formula.js'
import { broken, type Lisp, listOf, sectionsOf, wordOf } from './lisp.js'
import { readTyped, type Typed, Types } from './types.js'

/** Makes an atom true or false, for all values of its own variables, where its condition held before. */
export interface Effect {
  readonly variables: readonly Typed[]
  readonly condition?: Formula
  readonly predicate: string
  readonly terms: readonly string[]
  readonly makes: boolean
}

export interface Action {
  readonly name: string
  readonly parameters: readonly Typed[]
  readonly precondition: Formula
  readonly effects: readonly Effect[]
}

/** The rules of a world. */
export interface Domain {
  readonly types: Types
  readonly constants: readonly Typed[]
  /** Predicates and their number of terms. */
  readonly predicates: ReadonlyMap<string, number>
  readonly actions: readonly Action[]
}

export function readDomain(text: string, path: string): Domain {
  const sections = sectionsOf(text, path)
  const typed = (name: string) =>
    sections.filter(([head]) => head === name).flatMap(([, ...list]) => readTyped(list, path))
  const predicates = new Map<string, number>()
  for (const [head, ...list] of sections) {
    if (head !== ':predicates') continue
    for (const one of list) {
      const [name, ...terms] = listOf(one, 'a predicate', path)
      predicates.set(wordOf(name, 'a predicate', path), readTyped(terms, path).length)
    }
  }
  const actions = sections.filter(([head]) => head === ':action').map((section) => readAction(section, path))
  if (actions.length === 0) throw broken('the domain has no actions', path)
  const domain = { types: new Types(typed(':types')), constants: typed(':constants'), predicates, actions }
  for (const action of actions) checkAction(action, domain, path)
  return domain
}

function readAction([, name, ...rest]: readonly Lisp[], path: string): Action {
  const parts = new Map<string, Lisp>()
  for (let at = 0; at + 1 < rest.length; at += 2) parts.set(wordOf(rest[at], 'a part of an action', path), rest[at + 1])
  const condition = parts.get(':precondition')
  return {
    name: wordOf(name, 'the name of an action', path),
    parameters: readTyped(listOf(parts.get(':parameters') ?? [], ':parameters', path), path),
    precondition: condition === undefined ? TRUE : readFormula(condition, path),
    effects: [...readEffects(listOf(parts.get(':effect') ?? [], ':effect', path), { variables: [] }, path)],
  }
}

/** Costs are left out: nothing here plans by them. */
function* readEffects(
  list: readonly Lisp[],
  around: Pick<Effect, 'variables' | 'condition'>,
  path: string,
): Generator<Effect> {
  const [head, ...rest] = list
  const inner = (at: number) => listOf(rest[at], `an effect in '${String(head)}'`, path)
  if (head === undefined || head === 'increase') return
  if (head === 'and') for (const part of rest) yield* readEffects(listOf(part, 'an effect', path), around, path)
  else if (head === 'forall') {
    const variables = [...around.variables, ...readTyped(inner(0), path)]
    yield* readEffects(inner(1), { ...around, variables }, path)
  } else if (head === 'when') {
    const own = readFormula(rest[0], path)
    const condition: Formula = around.condition ? { kind: 'and', parts: [around.condition, own] } : own
    yield* readEffects(inner(1), { ...around, condition }, path)
  } else {
    const atom = readAtom(head === 'not' ? inner(0) : list, path)
    if (atom.kind === 'equal') throw broken('an effect cannot make terms equal', path)
    yield { ...around, predicate: atom.predicate, terms: atom.terms, makes: head !== 'not' }
  }
}

function checkAction({ name, precondition, effects }: Action, domain: Pick<Domain, 'predicates'>, path: string): void {
  checkAtoms(precondition, domain, `action '${name}'`, path)
  for (const { predicate, terms, condition } of effects) {
    checkAtom({ predicate, terms }, domain, `action '${name}'`, path)
    if (condition) checkAtoms(condition, domain, `action '${name}'`, path)
  }
}

/** Every predicate in it is declared and has as many terms as it should. */
export function checkAtoms(formula: Formula, domain: Pick<Domain, 'predicates'>, where: string, path: string): void {
  for (const atom of atomsOf(formula)) checkAtom(atom, domain, where, path)
}

export function checkAtom(
  { predicate, terms }: Pick<Atom, 'predicate' | 'terms'>,
  { predicates }: Pick<Domain, 'predicates'>,
  where: string,
  path: string,
): void {
  const arity = predicates.get(predicate)
  if (arity === undefined) throw broken(`${where} uses the predicate '${predicate}', which the domain lacks`, path)
  if (arity !== terms.length) {
    throw broken(`${where} gives '${predicate}' ${terms.length} terms instead of ${arity}`, path)
  }
}
