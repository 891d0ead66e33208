import { describe, expect, it } from 'vitest'
import { readDomain } from './domain.js'
import { readProblem } from './problem.js'

const DOMAIN = `(define (domain d) (:types cat - animal animal) (:constants tom - cat)
  (:predicates (p ?x - animal) (q ?x ?y))
  (:action bite :parameters (?x - cat ?y) :precondition (p ?x)
    :effect (and (not (p ?x)) (increase (total-cost) 2) (forall (?z - animal) (when (q ?x ?z) (when (p ?z) (q ?z ?y)))))))`

describe('readDomain', () => {
  it('reads types, constants, predicates and actions, without costs', () => {
    const { types, constants, predicates, actions } = readDomain(DOMAIN, 'd')
    expect(types.isA('cat', 'animal')).toBe(true)
    expect(types.isA('animal', 'cat')).toBe(false)
    expect(types.isA('cat', 'object')).toBe(true)
    expect(types.isA('dog', 'object')).toBe(false)
    expect(constants).toEqual([{ name: 'tom', type: 'cat' }])
    expect([...predicates]).toEqual([
      ['p', 1],
      ['q', 2],
    ])
    expect(actions[0].parameters).toEqual([
      { name: '?x', type: 'cat' },
      { name: '?y', type: 'object' },
    ])
    expect(actions[0].effects.map(({ predicate, makes }) => [predicate, makes])).toEqual([
      ['p', false],
      ['q', true],
    ])
    expect(actions[0].effects[1]).toMatchObject({ variables: [{ name: '?z' }], condition: { kind: 'and' } })
  })

  it.each([
    ['(define (domain d) (:predicates (p)))', 'has no actions'],
    ['(define (:action a :precondition (p)))', "uses the predicate 'p', which the domain lacks"],
    ['(define (:predicates (p ?x)) (:action a :precondition (p)))', "gives 'p' 0 terms instead of 1"],
    ['(define (:predicates (p)) (:action a :effect (q)))', "uses the predicate 'q'"],
    ['(define (:predicates (p)) (:action a :effect p))', ":effect is 'p' instead of a list"],
    ['(define (:predicates (p)) (:action a :effect (= a b)))', 'cannot make terms equal'],
    ['(define (:predicates (p)) (:action a :precondition (not (p) (p))))', "'not' has 2 conditions"],
    ['(define (:predicates (p)) (:action a :precondition (imply (p))))', "'imply' has 1 parts"],
    ['(define (:predicates (p)) (:action a :precondition (exists ?x (p))))', "the variables of 'exists' is '?x'"],
    ['(define (:predicates (p)) (:action a :precondition (((p)))))', 'a predicate is a list'],
    ['(define (:predicates (p)) (:action (a)))', 'the name of an action is a list'],
    ['(define (:types a -) (:action a))', "what stands after '-' is missing"],
    ['(define (:predicates p) (:action a))', "a predicate is 'p' instead of a list"],
  ])('says what is wrong with %s', (text, message) => {
    expect(() => readDomain(text, 'd.pddl')).toThrow(message)
  })
})

describe('readProblem', () => {
  const domain = readDomain(DOMAIN, 'd')
  const read = (text: string) => readProblem(`(define (problem x) ${text})`, domain, 'game')

  it('reads objects, facts and the goal; numbers are left out', () => {
    const problem = read('(:objects Ann - cat) (:init (= (total-cost) 0) (p ann)) (:goal (q ann tom))')
    expect(problem.objects.map(({ name }) => name)).toEqual(['tom', 'ann'])
    expect(problem.init).toEqual([{ kind: 'atom', predicate: 'p', terms: ['ann'] }])
    expect(problem.goal).toEqual({ kind: 'atom', predicate: 'q', terms: ['ann', 'tom'] })
  })

  it.each([
    ['', "no section ':objects'"],
    ['(:objects) (:goal ())', "no section ':init'"],
    ['(:objects) (:init)', "no section ':goal'"],
    ['(:objects) (:init) (:goal)', 'a condition is missing'],
    ['(:objects tom) (:init) (:goal ())', 'declared twice'],
    ['(:objects) (:init (p eve)) (:goal ())', "names the object 'eve'"],
    ['(:objects) (:init (p)) (:goal ())', "gives 'p' 0 terms"],
    ['(:objects) (:init p) (:goal ())', "a fact of :init is 'p'"],
    ['(:objects) (:init) (:goal (z))', ":goal uses the predicate 'z'"],
    ['(:objects (a)) (:init) (:goal ())', 'a name in a list with types is a list'],
  ])('says what is wrong with %s', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })
})
