import { describe, expect, it } from 'vitest'
import { readDomain } from './domain.js'
import { readProblem } from './problem.js'
import { Schema } from './schema.js'
import { Scope } from './scope.js'
import { type State, startOf } from './state.js'

const domain = readDomain(
  `(define (:predicates (at ?x) (lit ?x) (seen ?x) (near ?x ?y))
    (:action move :parameters (?x ?y) :precondition (at ?x) :effect (and (not (at ?x)) (at ?y)))
    (:action flip :parameters (?x) :precondition (at ?x)
      :effect (and (when (lit ?x) (not (lit ?x))) (when (not (lit ?x)) (lit ?x))))
    (:action look :parameters (?x) :precondition (at ?x) :effect (forall (?y) (when (near ?x ?y) (seen ?y))))
    (:action stay :parameters (?x) :precondition (at ?x) :effect (at ?x)))`,
  'd',
)
const problem = readProblem(
  '(define (:objects a b c) (:init (at a) (near a b) (near a c)) (:goal (at c)))',
  domain,
  'p',
)
const scope = new Scope(domain, problem)
const schemas = new Map(domain.actions.map((action) => [action.name, new Schema(action, scope)]))
const possible = (name: string, { truth }: State) => {
  const schema = schemas.get(name)!
  const found: string[] = []
  schema.search(truth, (values) => {
    found.push(schema.action.parameters.map((_, at) => scope.names[values[at]]).join())
    return false
  })
  return found
}
const apply = (name: string, state: State, ...objects: string[]) =>
  schemas.get(name)!.apply(
    objects.map((object) => scope.object(object)),
    state,
  )
const facts = (tables: State['told'], name: string, negated = false) =>
  tables[scope.predicate(name) + (negated ? domain.predicates.size : 0)].rows.map((row) =>
    row.map((one) => scope.names[one]).join(),
  )

describe('Schema', () => {
  const start = startOf(scope.start)

  it('leaves out what cannot change anything', () => {
    expect(possible('move', start)).toEqual(['a,b', 'a,c'])
    expect(possible('stay', start)).toEqual([])
    expect(possible('flip', start)).toEqual(['a'])
  })

  it('gives a new state, and tells what was taken back', () => {
    const after = apply('move', start, 'a', 'c')
    expect(facts(after.truth, 'at')).toEqual(['c'])
    expect(facts(after.told, 'at', true)).toEqual(['a'])
    const back = apply('move', after, 'c', 'a')
    expect(facts(back.told, 'at', true)).toEqual(['c'])
    expect(facts(start.truth, 'at')).toEqual(['a'])
  })

  it('shares the table of the same single fact', () => {
    const there = apply('move', start, 'a', 'b')
    const again = apply('move', apply('move', there, 'b', 'a'), 'a', 'b')
    expect(again.truth[scope.predicate('at')]).toBe(there.truth[scope.predicate('at')])
  })

  it('effects depend on the state before; what is told does not', () => {
    const once = apply('flip', start, 'a')
    expect(facts(once.truth, 'lit')).toEqual(['a'])
    expect(facts(once.told, 'lit')).toEqual([])
    expect(facts(once.told, 'lit', true)).toEqual(['a'])
    expect(facts(apply('flip', once, 'a').truth, 'lit')).toEqual([])
  })

  it('takes all values of an effect with variables', () => {
    expect(facts(apply('look', start, 'a').truth, 'seen')).toEqual(['b', 'c'])
  })
})
