import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Compiler } from './compile.js'
import type { Domain } from './domain.js'
import type { Formula } from './formula.js'
import { Scope } from './scope.js'
import { search } from './search.js'
import { Types } from './types.js'

const domain: Domain = {
  types: new Types([
    { name: 'cat', type: 'animal' },
    { name: 'animal', type: 'object' },
    { name: 'stone', type: 'object' },
  ]),
  constants: [],
  predicates: new Map([
    ['p', 1],
    ['q', 2],
    ['r', 2],
  ]),
  actions: [],
}
const objects = [
  { name: 'a', type: 'cat' },
  { name: 'b', type: 'animal' },
  { name: 'c', type: 'stone' },
  { name: 'd', type: 'stone' },
]
const FREE = [
  { name: '?x', type: 'animal' },
  { name: '?y', type: 'object' },
]

const fact = fc.oneof(
  fc.tuple(fc.constant('p'), fc.constantFrom('a', 'b', 'c', 'd')),
  fc.tuple(fc.constantFrom('q', 'r'), fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('a', 'b', 'c', 'd')),
)
const term = fc.constantFrom('?x', '?y', '?z', 'a', 'c', 'nobody')
const variable = fc.record({
  name: fc.constantFrom('?y', '?z'),
  type: fc.constantFrom('object', 'animal', 'stone', 'undeclared'),
})
const { formula } = fc.letrec<{ formula: Formula }>((tie) => {
  const inner = tie('formula')
  const atom = fc.oneof(
    fc.record({ kind: fc.constant('atom' as const), predicate: fc.constant('p'), terms: fc.tuple(term) }),
    fc.record({
      kind: fc.constant('atom' as const),
      predicate: fc.constantFrom('q', 'r'),
      terms: fc.tuple(term, term),
    }),
  )
  return {
    formula: fc.oneof(
      { maxDepth: 3 },
      atom,
      fc.record({
        kind: fc.constant('equal' as const),
        terms: fc.tuple(fc.constantFrom('?x', '?y', 'a'), fc.constantFrom('?x', '?y', 'c')),
      }),
      fc.record({ kind: fc.constant('not' as const), of: inner }),
      fc.record({ kind: fc.constant('and' as const), parts: fc.array(inner, { maxLength: 3 }) }),
      fc.record({ kind: fc.constant('or' as const), parts: fc.array(inner, { maxLength: 3 }) }),
      fc.record({ kind: fc.constant('exists' as const), variables: fc.tuple(variable), of: inner }),
      fc.record({ kind: fc.constant('forall' as const), variables: fc.tuple(variable), of: inner }),
    ),
  }
}) as { formula: fc.Arbitrary<Formula> }

/** By the book: every value is tried. */
function holds(formula: Formula, names: ReadonlyMap<string, string>, facts: ReadonlySet<string>): boolean {
  const value = (one: string) => names.get(one) ?? one
  switch (formula.kind) {
    case 'atom':
      return facts.has([formula.predicate, ...formula.terms.map(value)].join())
    case 'equal':
      return value(formula.terms[0]) === value(formula.terms[1])
    case 'not':
      return !holds(formula.of, names, facts)
    case 'and':
      return formula.parts.every((part) => holds(part, names, facts))
    case 'or':
      return formula.parts.some((part) => holds(part, names, facts))
    default: {
      const [{ name, type }] = formula.variables
      const of = objects.filter((one) => domain.types.isA(one.type, type))
      const inner = of.map((one) => holds(formula.of, new Map([...names, [name, one.name]]), facts))
      return formula.kind === 'exists' ? inner.includes(true) : !inner.includes(false)
    }
  }
}

/** No variable is left without a quantifier. */
const closed = (formula: Formula): Formula => ({
  kind: 'exists',
  variables: [{ name: '?z', type: 'object' }],
  of: formula,
})

describe('Compiler', () => {
  it('finds exactly the values for which a formula holds', () => {
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 12 }), formula.map(closed), (given, formula) => {
        const init = given.map(([predicate, ...terms]) => ({ kind: 'atom' as const, predicate, terms }))
        const scope = new Scope(domain, { objects, init })
        const compiler = new Compiler(scope)
        const names = new Map(FREE.map((one) => [one.name, compiler.declare(one)]))
        const ways = compiler.ways(formula, names, [], [...names.values()])
        const found = new Set<string>()
        for (const steps of ways) {
          search(steps, [...compiler.initial], scope.start, (bind) => {
            found.add([...names.values()].map((slot) => scope.names[bind[slot]]).join())
            return false
          })
        }
        const facts = new Set(given.map((one) => one.join()))
        const right = objects
          .filter(({ type }) => domain.types.isA(type, 'animal'))
          .flatMap((x) => objects.map((y) => [x.name, y.name]))
          .filter(([x, y]) =>
            holds(
              formula,
              new Map([
                ['?x', x],
                ['?y', y],
              ]),
              facts,
            ),
          )
        expect([...found].sort()).toEqual(right.map((one) => one.join()).sort())
      }),
      { numRuns: 500 },
    )
  })
})
