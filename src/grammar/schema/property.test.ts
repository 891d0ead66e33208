import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Grammar } from '../grammar.js'
import { Machine, NOWHERE } from '../machine.js'
import { schemaPart } from './compile.js'
import { schemas } from './random-schema.fixture.js'

/** The independent judge of what fits a schema. */
const ajv = new Ajv2020({
  strict: false,
  allErrors: false,
  formats: {
    date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toISOString().startsWith(text),
    uuid: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
    ipv4: (text) =>
      text.split('.').length === 4 &&
      text.split('.').every((part) => String(Number(part)) === part && Number(part) < 256),
  },
})

function judge(schema: object) {
  const validate = ajv.compile(schema)
  const grammar = new Grammar()
  const machine = new Machine(grammar, schemaPart(grammar, schema))
  const accepts = (text: string) => {
    const place = machine.after(machine.start, new TextEncoder().encode(text))
    return place !== NOWHERE && machine.mayEnd(place)
  }
  return { accepts, validates: (value: unknown) => validate(value) as boolean }
}

describe('random schemas and documents', () => {
  it('documents that fit are accepted, in one line and in many', () => {
    const cases = schemas().chain(({ schema, document }) =>
      fc.tuple(fc.constant(schema), fc.array(document, { minLength: 1, maxLength: 5 })),
    )
    fc.assert(
      fc.property(cases, ([schema, documents]) => {
        const { accepts, validates } = judge(schema)
        for (const document of documents) {
          expect(validates(document), 'the document fits').toBe(true)
          for (const indent of [undefined, 2, '\t']) expect(accepts(JSON.stringify(document, null, indent))).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('what was changed is accepted only where it still fits', () => {
    const cases = schemas().chain(({ schema, document }) =>
      fc.tuple(fc.constant(schema), document, fc.array(edits, { minLength: 8, maxLength: 8 })),
    )
    let [fitting, unfitting] = [0, 0]
    fc.assert(
      fc.property(cases, ([schema, document, changes]) => {
        const { accepts, validates } = judge(schema)
        const text = JSON.stringify(document)
        for (const change of changes) {
          const changed = change(text)
          const value = parsed(changed)
          if (accepts(changed)) {
            expect(value, 'it is JSON').toBeDefined()
            expect(validates(value!.value), changed).toBe(true)
            fitting++
          } else unfitting++
        }
      }),
      { numRuns: 120 },
    )
    expect(Math.min(fitting, unfitting)).toBeGreaterThan(20)
  })

  it('a value in place of another: accepted exactly where it fits', () => {
    const cases = schemas().chain(({ schema, document }) =>
      fc.tuple(fc.constant(schema), document, fc.nat(20), replacements),
    )
    fc.assert(
      fc.property(cases, ([schema, document, at, other]) => {
        const { accepts, validates } = judge(schema)
        const changed = replaced(document, { left: at }, other)
        // whole numbers may be written with a point or an exponent, which a grammar of whole numbers never does
        expect(accepts(JSON.stringify(changed)), JSON.stringify([schema, changed])).toBe(validates(changed))
      }),
      { numRuns: 120 },
    )
  })
})

const replacements = fc.constantFrom<unknown[]>(
  null,
  true,
  0,
  -1,
  7,
  1.5,
  100000,
  '',
  'a',
  'ab',
  'x',
  'zzz',
  [],
  [1],
  {},
  { a: 1 },
)

/** The document with one of its values, counted from its beginning, replaced. */
function replaced(value: unknown, count: { left: number }, other: unknown): unknown {
  if (count.left-- === 0) return other
  if (Array.isArray(value)) return value.map((one) => replaced(one, count, other))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, count, other)]))
}

/** Changes of a text: characters removed, doubled, replaced, moved. */
const edits = fc
  .tuple(
    fc.nat(),
    fc.nat(),
    fc.constantFrom('drop', 'double', 'put', 'cut', 'swap'),
    fc.constantFrom(...'{}[]",:0192-.e+ntf\\ \nxé'),
  )
  .map(([at, length, kind, character]) => (text: string) => {
    const from = at % (text.length + 1)
    const to = Math.min(text.length, from + 1 + (length % 3))
    if (kind === 'drop') return text.slice(0, from) + text.slice(to)
    if (kind === 'double') return text.slice(0, to) + text.slice(from)
    if (kind === 'cut') return text.slice(0, from)
    if (kind === 'swap') return text.slice(0, from) + text.slice(to, to + 1) + text.slice(from, to) + text.slice(to + 1)
    return text.slice(0, from) + character + text.slice(kind === 'put' && length % 2 ? from : to)
  })

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
