import { type Atom, atomsOf, type Formula } from '../pddl/formula.js'

/** What a game wants, as far as its expert understands it. */
export type Aim =
  /** So many objects of a type, each with these properties, in one receptacle of a type. */
  | {
      readonly kind: 'place'
      readonly object: string
      readonly properties: readonly string[]
      readonly count: number
      readonly receptacle: string
    }
  /** An object of a type in hand, beside a lamp that was switched on. */
  | { readonly kind: 'light'; readonly object: string; readonly lamp: string }

/** Undefined: a goal of another kind. */
export function aimOf(goal: Formula): Aim | undefined {
  const atoms = [...atomsOf(goal)]
  const named = (predicate: string) => atoms.filter((atom) => atom.predicate === predicate)
  const typeOf = (predicate: string, variable: string) =>
    named(predicate).find(({ terms }) => terms[0] === variable)?.terms[1]
  const lamp = variableOf(named('istoggled'))
  const held = variableOf(named('holds'), 1)
  if (lamp && held) {
    const [object, kind] = [typeOf('objecttype', held), typeOf('objecttype', lamp)]
    return object && kind ? { kind: 'light', object, lamp: kind } : undefined
  }
  const placed = named('inreceptacle')
  const variables = [...new Set(placed.map(({ terms }) => terms[0]))]
  const [type, ...others] = new Set(variables.map((variable) => typeOf('objecttype', variable)))
  const [receptacle, ...more] = new Set(placed.map(({ terms }) => typeOf('receptacletype', terms[1])))
  if (!type || !receptacle || others.length > 0 || more.length > 0) return undefined
  const properties = atoms.filter(({ terms }) => terms.length === 1 && variables.includes(terms[0]))
  return {
    kind: 'place',
    object: type,
    properties: [...new Set(properties.map(({ predicate }) => predicate))],
    count: variables.length,
    receptacle,
  }
}

function variableOf(atoms: readonly Atom[], place = 0): string | undefined {
  return atoms[0]?.terms[place]
}
