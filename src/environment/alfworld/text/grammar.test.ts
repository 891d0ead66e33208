import { describe, expect, it } from 'vitest'
import { Table } from '../pddl/table.js'
import { Grammar, type Subject } from './grammar.js'
import { Placeholders } from './query.js'
import { readQuery, readSymbols } from './symbols.js'
import type { Alternative } from './twl2.js'

const entities = ['ann', 'bob', 'box'].map((id) => {
  return { id, name: `${id} 1`, type: id === 'box' ? 'thing' : 'person', definite: 'the', indefinite: 'a' }
})
const KINDS: Record<string, Uint8Array> = { person: Uint8Array.of(1, 1, 0), thing: Uint8Array.of(0, 0, 1) }
const PREDICATES = ['knows', 'has']

function write(text: string, rules: Record<string, (string | Alternative)[]> = {}, own: Record<string, string> = {}) {
  const placeholders = new Placeholders()
  const all = { list_empty: ['nothing'], list_separator: [', '], list_last_separator: [' and '], ...rules }
  const alternatives = Object.entries(all).map(
    ([name, list]) =>
      [name, list.map((one) => (typeof one === 'string' ? { condition: '', text: one } : one))] as const,
  )
  const number = (name: string) => (PREDICATES.includes(name) ? PREDICATES.indexOf(name) : undefined)
  const grammar = new Grammar(new Map(alternatives), placeholders, number, 'g')
  const writer = grammar.writer(text)
  const told = [
    Table.of([
      [0, 0],
      [0, 1],
      [1, 0],
    ]),
    Table.of([[1, 2]]),
  ]
  const facts = { told, kind: (placeholder: number) => KINDS[placeholders.types[placeholder]] ?? new Uint8Array(3) }
  const subject: Subject = { facts, entities, own: new Map(Object.entries(own)) }
  const context: (number | undefined)[] = []
  context[placeholders.number('p', 'person')] = 1
  return writer(context, subject)
}

describe('Grammar', () => {
  it('writes values, and lists of what answers a question', () => {
    expect(write("{p} and {p.id}, {p.definite + ' ' + p.name}, {'' or p.type}")).toBe(
      'bob 1 and bob, the bob 1, person',
    )
    expect(write('[{q.id | knows(q:person, p:person)}]')).toBe('ann')
    expect(write('[{t.id | has(p:person, t:thing)}]')).toBe('box')
    expect(write('[{t.id | has(t:thing, p:person)}]!')).toBe('nothing!')
    expect(write('{p.id | knows(q:person, p:person)}')).toBe('bob')
  })

  it('different names stand for different objects', () => {
    // Bob is taken: he is p.
    expect(write('[{a.id + b.id | knows(a:person, b:person)}]')).toBe('nothing')
    expect(write('[{a.id | knows(a:person, a:person)}]')).toBe('ann')
  })

  it('takes the first rule whose condition holds, and the game’s own text before all', () => {
    const rules = {
      say: [
        { condition: 'has(p:person, x:person)', text: 'never' },
        { condition: 'has(p:person, t:thing)', text: 'has' },
        'else',
      ],
    }
    expect(write('#say#', rules)).toBe('has')
    expect(write('#say#', rules, { say: 'own {p.id}' })).toBe('own bob')
    expect(write('#no# ', { no: [{ condition: 'unheard_of(p:person)', text: 'x' }, 'no'] })).toBe('no ')
  })

  it.each([
    ['#absent#', {}, "there is no rule 'absent'"],
    ['#a#', { a: ['#a#'] }, "'a' leads back to itself"],
    ['#a#', { a: [{ condition: 'has(p:thing, x:thing)', text: 'x' }] }, "no part of the rule 'a' applies"],
    ['{z.name}', {}, "nothing is called 'z'"],
    ['{p.age}', {}, "the expression 'p.age' is not understood"],
    ['{p.name()}', {}, 'is not understood'],
    ['{p | has p}', {}, "the condition 'has p' is not understood"],
  ])('says what is wrong with %s', (text, rules, message) => {
    expect(() => write(text, rules)).toThrow(message)
  })
})

describe('readSymbols', () => {
  it('drops blanks at the start, and all from where it does not understand', () => {
    expect(readSymbols('\n  a b ')).toEqual([{ kind: 'words', text: 'a b ' }])
    expect(readSymbols('a; b')).toEqual([{ kind: 'words', text: 'a' }])
    expect(readSymbols('a {b} }')).toHaveLength(3)
    expect(readSymbols('[x]')).toEqual([])
    expect(readSymbols('[{x} y')).toHaveLength(1)
    expect(readSymbols('')).toEqual([])
  })
})

describe('readQuery', () => {
  it('takes the name for the type where none is given', () => {
    expect(readQuery("p(a:t, b') & q()", 'g')).toEqual([
      {
        predicate: 'p',
        terms: [
          { name: 'a', type: 't' },
          { name: "b'", type: 'b' },
        ],
      },
      { predicate: 'q', terms: [] },
    ])
  })
})
