import fc from 'fast-check'

/** A schema, and documents that fit it by construction, with properties in the order of the schema. */
export interface Sample {
  readonly schema: Record<string, unknown>
  readonly document: fc.Arbitrary<unknown>
}

const NAMES = ['a', 'b', 'name', 'x y', 'ключ', '"q"', 'a\\b', '']
const texts = fc.string({ unit: 'binary', maxLength: 8 })

/** Random schemas of everything that is held to, nested up to `depth`. */
export function schemas(depth = 3): fc.Arbitrary<Sample> {
  const leaves = fc.oneof(strings, numbers, enums, plain)
  if (depth === 0) return leaves
  const inner = schemas(depth - 1)
  return fc.oneof(
    { weight: 2, arbitrary: leaves },
    arrays(inner),
    tuples(inner),
    objects(inner),
    unions(inner),
    alls(inner),
  )
}

const plain: fc.Arbitrary<Sample> = fc.constantFrom(
  { schema: { type: 'null' }, document: fc.constant(null) },
  { schema: { type: 'boolean' }, document: fc.boolean() },
  { schema: { type: ['string', 'null'] }, document: fc.option(texts) },
  { schema: { type: 'integer', nullable: true }, document: fc.option(fc.maxSafeInteger()) },
  { schema: {}, document: fc.jsonValue({ maxDepth: 2 }).filter(writable) },
  { schema: { type: 'object' }, document: fc.dictionary(texts, fc.jsonValue({ maxDepth: 1 }).filter(writable)) },
)

/** Numbers that are written with an exponent of three digits are not; and the judge calls what an object has as `valueOf`. */
function writable(value: unknown): boolean {
  return !/e[+-]\d{3}|\d{21}|"valueOf"|"toString"/.test(JSON.stringify(value))
}

const strings: fc.Arbitrary<Sample> = fc.oneof(
  fc.tuple(fc.nat(3), fc.nat(4)).map(([min, more]) => ({
    schema: { type: 'string', minLength: min, maxLength: min + more },
    document: fc
      .array(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), { minLength: min, maxLength: min + more })
      .map((list) => list.join('')),
  })),
  fc
    .constantFrom(
      '^[a-c]{2,4}$',
      'x',
      '^a',
      'z$',
      '^(ab|c)*$',
      '\\d{3}',
      '^[^"\\\\]?é+$',
      '^\\w+@\\w+\\.(com|org)$',
      '^\\p{Lu}.?$',
    )
    .map((pattern) => ({ schema: { type: 'string', pattern }, document: fc.stringMatching(new RegExp(pattern, 'u')) })),
  fc.constant({
    schema: { type: 'string', pattern: '^[ab]*$', minLength: 2, maxLength: 5 },
    document: fc.stringMatching(/^[ab]{2,5}$/),
  }),
  fc.constant({
    schema: { type: 'string', format: 'date' },
    document: fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
  }),
  fc.constant({ schema: { type: 'string', format: 'uuid' }, document: fc.uuid() }),
  fc.constant({ schema: { type: 'string', format: 'ipv4' }, document: fc.ipV4() }),
)

const numbers: fc.Arbitrary<Sample> = fc.oneof(
  fc.constant({ schema: { type: 'integer' }, document: fc.maxSafeInteger() }),
  fc.constant({
    schema: { type: 'number' },
    document: fc.double({ noNaN: true, noDefaultInfinity: true }).filter(writable),
  }),
  fc.tuple(fc.integer({ min: -1200, max: 1200 }), fc.nat(3000)).map(([min, more]) => ({
    schema: { type: 'integer', minimum: min, maximum: min + more },
    document: fc.integer({ min, max: min + more }),
  })),
  fc.tuple(fc.integer({ min: -300, max: 300 }), fc.integer({ min: 2, max: 99 })).map(([least, step]) => ({
    schema: { type: 'integer', exclusiveMinimum: least * step, multipleOf: step },
    document: fc.nat(1000).map((more) => (least + 1 + more) * step),
  })),
  fc.tuple(fc.integer({ min: -3000, max: 3000 }), fc.nat(5000)).map(([min, more]) => ({
    schema: { type: 'number', minimum: min / 100, maximum: (min + more) / 100 },
    document: fc.integer({ min: min * 10, max: (min + more) * 10 }).map((value) => value / 1000),
  })),
)

const enums: fc.Arbitrary<Sample> = fc.oneof(
  fc
    .uniqueArray(fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1, maxLength: 6 })
    .map((values) => ({
      schema: { enum: values },
      document: fc.constantFrom(...values),
    })),
  fc
    .jsonValue({ maxDepth: 2 })
    .filter(writable)
    .map((value) => ({ schema: { const: value }, document: fc.constant(value) })),
)

function arrays(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(inner, fc.nat(2), fc.nat(3)).map(([item, min, more]) => ({
    schema: { type: 'array', items: item.schema, minItems: min, maxItems: min + more },
    document: fc.array(item.document, { minLength: min, maxLength: min + more }),
  }))
}

function tuples(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), inner).map(([first, rest]) => ({
    schema: { type: 'array', prefixItems: first.map(({ schema }) => schema), items: rest.schema, maxItems: 5 },
    document: fc
      .tuple(
        fc.tuple(...first.map(({ document }) => document)),
        fc.array(rest.document, { maxLength: 5 - first.length }),
        fc.nat(first.length),
      )
      .map(([head, tail, length]) => (length < head.length ? head.slice(0, length) : [...head, ...tail])),
  }))
}

function objects(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  return fc
    .tuple(names, fc.array(inner, { minLength: 4, maxLength: 4 }), fc.nat(4), fc.option(inner))
    .map(([keys, values, needed, others]) => {
      const required = keys.filter((_, i) => i % 4 < needed)
      const properties = Object.fromEntries(keys.map((key, i) => [key, values[i].schema]))
      const known = fc.record(Object.fromEntries(keys.map((key, i) => [key, values[i].document])), {
        requiredKeys: required,
      })
      const more = others
        ? fc.dictionary(
            fc.string({ unit: 'binary', maxLength: 4 }).filter((key) => !keys.includes(key) && !/^\d/.test(key)),
            others.document,
            { maxKeys: 2 },
          )
        : fc.constant({})
      return {
        schema: { type: 'object', properties, required, additionalProperties: others?.schema ?? false },
        document: fc.tuple(known, more).map(([own, rest]) => ({ ...inOrder(own, keys), ...rest })),
      }
    })
}

function inOrder(object: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]))
}

function unions(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.array(inner, { minLength: 1, maxLength: 3 }).map((options) => ({
    schema: { anyOf: options.map(({ schema }) => schema) },
    document: fc.oneof(...options.map(({ document }) => document)),
  }))
}

/** The same twice holds for what holds once. */
function alls(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return inner.map(({ schema, document }) => ({ schema: { allOf: [schema, { description: 'any' }] }, document }))
}
