import { describe, expect, it } from 'vitest'
import { Grammar } from '../grammar.js'
import { Machine, NOWHERE } from '../machine.js'
import { schemaPart } from './compile.js'

function acceptor(schema: unknown): (text: string) => boolean {
  const grammar = new Grammar()
  const machine = new Machine(grammar, schemaPart(grammar, schema))
  return (text) => {
    const place = machine.after(machine.start, Buffer.from(text))
    return place !== NOWHERE && machine.mayEnd(place)
  }
}

/** Which of some documents are accepted. */
function fitting(schema: unknown, documents: readonly unknown[]): unknown[] {
  const accepts = acceptor(schema)
  return documents.filter((document) => accepts(JSON.stringify(document)))
}

describe('objects', () => {
  it('have their properties in the order of the schema, and no others unless it says so', () => {
    const properties = { a: { type: 'integer' }, b: { type: 'integer' } }
    const documents = [{}, { a: 1 }, { b: 1 }, { a: 1, b: 2 }, { a: 1, c: 3 }, { c: 3 }, { a: 1, b: 2, c: 'x', d: [] }]
    expect(fitting({ type: 'object', properties }, documents)).toEqual(documents.slice(0, 4))
    expect(fitting({ type: 'object', properties, required: ['b'] }, documents)).toEqual([{ b: 1 }, { a: 1, b: 2 }])
    expect(fitting({ type: 'object', properties, additionalProperties: true }, documents)).toEqual(documents)
    expect(fitting({ type: 'object', properties }, [{ b: 1, a: 2 }])).toEqual([])
    // not even in another spelling can a name come again with another value
    const accepts = acceptor({ type: 'object', properties, additionalProperties: true })
    expect(['{"c":1}', '{"a":1,"a":"x"}', '{"\\u0061":"x"}', '{"a":1,"b":2,"aa":"x"}'].map(accepts)).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it('may have patterns and rules for their names', () => {
    const documents = [{ n1: 5 }, { s1: 'x' }, { n1: 'x' }, { other: 1 }, { n1: 1, s2: 'y' }, { n1s1: 1 }]
    const patternProperties = { '^n': { type: 'number' }, 's\\d$': { type: 'string' } }
    expect(fitting({ type: 'object', patternProperties, additionalProperties: false }, documents)).toEqual([
      { n1: 5 },
      { s1: 'x' },
      { n1: 1, s2: 'y' },
    ])
    const names = {
      type: 'object',
      propertyNames: { pattern: '^[a-z]+$', maxLength: 3 },
      additionalProperties: { type: 'integer' },
    }
    expect(fitting(names, [{ ab: 1 }, { abcd: 1 }, { A: 1 }, {}])).toEqual([{ ab: 1 }, {}])
    const own = { type: 'object', properties: { n1: { minimum: 3 } }, patternProperties: { '^n': { type: 'number' } } }
    expect(fitting(own, [{ n1: 2 }, { n1: 3.5 }, { n2: 1 }, { n1: 'x' }])).toEqual([{ n1: 3.5 }, { n2: 1 }])
  })

  it('may be counted where that can be decided', () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } }
    const documents = [{}, { x: 1 }, { x: 1, y: 2 }, { x: 1, y: 2, z: 3 }]
    expect(fitting({ ...map, minProperties: 1, maxProperties: 2 }, documents)).toEqual(documents.slice(1, 3))
    const named = { ...map, properties: { x: { type: 'integer' } }, required: ['x'], maxProperties: 2 }
    expect(fitting(named, documents)).toEqual(documents.slice(1, 3))
    expect(() => acceptor({ ...map, minProperties: 2 })).toThrow(/minProperties/)
  })
})

describe('combinations', () => {
  it('allOf holds everything at once', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] },
        { type: 'object', properties: { a: { maximum: 5 }, b: { type: 'string', pattern: '^x' } } },
        { properties: { b: { pattern: 'y$', minLength: 3 } }, required: ['b'] },
      ],
    }
    expect(fitting(schema, [{ a: 4, b: 'xyy' }, { a: 6, b: 'xyy' }, { a: 4, b: 'xy' }, { a: 4 }])).toEqual([
      { a: 4, b: 'xyy' },
    ])
    expect(
      fitting(
        { allOf: [{ enum: [1, 2, 'a', [3], null] }, { enum: [2, 'a', [3], 9] }, { type: ['integer', 'array'] }] },
        [1, 2, 'a', [3], null, 9],
      ),
    ).toEqual([2, [3]])
    expect(
      fitting({ enum: ['a', 'bb', 'ccc', 7], minLength: 2, type: ['string', 'integer'] }, ['a', 'bb', 'ccc', 7]),
    ).toEqual(['bb', 'ccc', 7])
  })

  it('oneOf is held to where its alternatives are apart', () => {
    const kind = (name: string, more: object) => ({
      type: 'object',
      properties: { kind: { const: name }, ...more },
      required: ['kind'],
    })
    const schema = {
      oneOf: [kind('a', { x: { type: 'integer' } }), kind('b', { y: { type: 'string' } }), { type: 'null' }],
    }
    const documents = [{ kind: 'a', x: 1 }, { kind: 'b', y: 'q' }, null, { kind: 'b', x: 1 }, { kind: 'c' }]
    expect(fitting(schema, documents)).toEqual(documents.slice(0, 3))
    expect(
      fitting(
        {
          oneOf: [
            { type: 'integer', maximum: 3 },
            { type: 'integer', minimum: 4 },
          ],
        },
        [3, 4],
      ),
    ).toEqual([3, 4])
    expect(
      fitting(
        {
          oneOf: [
            { type: 'string', pattern: '^a' },
            { type: 'string', pattern: '^b' },
          ],
        },
        ['a', 'b', 'c'],
      ),
    ).toEqual(['a', 'b'])
    const both = { properties: { v: { oneOf: [{ type: 'number' }, { type: 'integer' }] } } }
    expect(() => acceptor(both)).toThrow(
      expect.objectContaining({ code: 'grammar/schema', path: '#/properties/v/oneOf' }),
    )
  })

  it('references may lead around in circles, as long as values stand between', () => {
    const tree = {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: { v: { type: 'integer' }, kids: { type: 'array', items: { $ref: '#/$defs/tree' } } },
          required: ['v', 'kids'],
        },
      },
    }
    const deep = Array.from({ length: 200 }).reduce<object>((inner) => ({ v: 1, kids: [inner, { v: 2, kids: [] }] }), {
      v: 0,
      kids: [],
    })
    expect(fitting(tree, [deep, { v: 1, kids: [{ v: 'x', kids: [] }] }])).toEqual([deep])
    expect(
      fitting({ type: 'object', properties: { 'a/b~c': { $ref: '#/properties/n' }, n: { type: 'null' } } }, [
        { 'a/b~c': null },
      ]),
    ).toHaveLength(1)
    for (const [schema, why] of [
      [{ $ref: '#' }, /refers to itself/],
      [{ $ref: '#/$defs/x' }, /leads nowhere/],
      [{ $ref: 'https://example.org/x' }, /inside the schema/],
      [{ type: 'object', properties: { me: { $ref: '#' } }, required: ['me'] }, /no value fits/],
    ] as const) {
      expect(() => acceptor(schema)).toThrow(why)
    }
  })

  it('a schema without a type is about what its keywords are about', () => {
    expect(fitting({ minLength: 2 }, ['ab', 'a', 5, null])).toEqual(['ab'])
    expect(fitting({ properties: { a: {} } }, [{ a: [1] }, 5])).toEqual([{ a: [1] }])
    expect(fitting({}, [1, 'a', null, { a: [] }])).toHaveLength(4)
    expect(fitting(true, [1, { a: 1 }])).toHaveLength(2)
  })
})

describe('what cannot be enforced', () => {
  it.each([
    [{ type: 'array', uniqueItems: true }, '#/uniqueItems'],
    [{ not: { type: 'string' } }, '#/not'],
    [{ type: 'object', properties: { a: { if: {} } } }, '#/properties/a/if'],
    [{ items: { type: 'strng' } }, '#/items/type'],
    [{ type: 'string', format: 'color' }, '#/format'],
    [{ type: 'string', minLenght: 3 }, '#/minLenght'],
    [{ type: 'string', maxLength: -1 }, '#/maxLength'],
    [{ properties: { 'a/b': { type: 'string', pattern: '(?=x)' } } }, '#/properties/a~1b/pattern'],
    [{ type: 'number', multipleOf: 0.3 }, '#/multipleOf'],
    [{ anyOf: { type: 'string' } }, '#/anyOf'],
    [{ required: 'a' }, '#/required'],
    [{ $defs: { a: 5 }, $ref: '#/$defs/a' }, '#/$defs/a'],
    [{ enum: [[1]], items: { type: 'integer' } }, '#'],
    [{ type: 'string', minLength: 5, maxLength: 4 }, '#'],
    [{ type: 'string', pattern: '^a$', minLength: 2 }, '#'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, '#'],
    [false, '#'],
    ['text', '#'],
    [null, '#'],
  ])('%j is refused, and the error says where', (schema, path) => {
    expect(() => acceptor(schema)).toThrow(expect.objectContaining({ name: 'TrinityError', path }))
  })

  it('suggests the keyword that was meant', () => {
    expect(() => acceptor({ type: 'string', minLenght: 3 })).toThrow(
      expect.objectContaining({ hint: "did you mean 'minLength'?" }),
    )
  })

  it('hostile schemas are refused soon', () => {
    const deep = Array.from({ length: 5_000 }).reduce<object>((inner) => ({ items: inner }), {})
    const circle: Record<string, unknown> = { type: 'array' }
    circle.items = circle
    const two = (name: string) => ({
      anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }, { type: 'null' }],
    })
    const doubling = {
      $defs: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, two(`d${i + 1}`)])),
      $ref: '#/$defs/d0',
    }
    Object.assign(doubling.$defs, { d40: { type: 'string' } })
    const wide = {
      allOf: Array.from({ length: 20 }, (_, i) => ({
        anyOf: [{ minLength: i }, { maxLength: i }, { pattern: `^${i}` }],
      })),
    }
    const large = { enum: Array.from({ length: 10_000 }, (_, i) => `${i}`.padEnd(1000, 'x')) }
    const start = performance.now()
    for (const schema of [deep, circle, doubling, wide, large]) {
      expect(() => acceptor(schema)).toThrow(expect.objectContaining({ name: 'TrinityError' }))
    }
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it('large ones that are honest are taken', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string', maxLength: 10_000 }]),
    )
    expect(
      fitting({ type: 'object', properties }, [
        { p3: 'a', p499: 'b' },
        { p499: 'a', p3: 'b' },
      ]),
    ).toEqual([{ p3: 'a', p499: 'b' }])
    const values = Array.from({ length: 5_000 }, (_, i) => `value ${i}`)
    expect(fitting({ enum: values }, ['value 4999', 'value 5000'])).toEqual(['value 4999'])
  })
})
