import { TrinityError } from '../../base/error.js'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'
import { nearest } from '../../base/nearest.js'

/** A schema, and where it stands as a JSON pointer (`#/properties/name`). */
export interface Located {
  readonly schema: JsonObject
  readonly pointer: string
}

/** Keywords that say something of strings, of numbers, … : what a schema without a type is about. */
export const ABOUT = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
} as const

/** They put schemas together. */
const COMBINING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'nullable']
const OWN = ['type', 'enum', 'const', ...Object.values(ABOUT).flat()]
/** They say nothing about which values fit. */
const REMARKS = [
  ...[
    '$schema',
    '$id',
    'id',
    '$comment',
    '$defs',
    'definitions',
    'title',
    'description',
    'default',
    'examples',
    'example',
  ],
  ...[
    'deprecated',
    'readOnly',
    'writeOnly',
    'contentMediaType',
    'contentEncoding',
    'discriminator',
    'externalDocs',
    'xml',
  ],
  'strict',
]

/** The schema at a pointer, if it is one whose every keyword is understood. */
export function located(schema: unknown, pointer: string): Located | boolean {
  if (typeof schema === 'boolean') return schema
  if (!isJsonObject(schema)) throw unsupported(pointer, `a schema is an object or a boolean, not ${kindOf(schema)}`)
  for (const key of Object.keys(schema)) {
    if (COMBINING.includes(key) || OWN.includes(key) || REMARKS.includes(key) || key.startsWith('x-')) continue
    const near = nearest(key, [...COMBINING, ...OWN])
    throw unsupported(below(pointer, key), `'${key}' cannot be enforced`, near ? `did you mean '${near}'?` : undefined)
  }
  return { schema, pointer }
}

/** It says more than which schemas it is put together from. */
export function saysSomething({ schema }: Located): boolean {
  return Object.keys(schema).some((key) => OWN.includes(key))
}

export function below(pointer: string, ...keys: (string | number)[]): string {
  return [pointer, ...keys.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}

export function unsupported(pointer: string, why: string, hint?: string): TrinityError {
  return new TrinityError('grammar/schema', `${shortened(pointer)}: ${why}`, {
    path: shortened(pointer),
    hint: hint ?? 'leave it out of the schema, and check the answer where you read it',
  })
}

function shortened(pointer: string): string {
  return pointer.length > 200 ? `${pointer.slice(0, 100)}…${pointer.slice(-99)}` : pointer
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
}

/** A whole number that is not negative; undefined where the keyword is absent. */
export function countOf({ schema, pointer }: Located, key: string): number | undefined {
  const value = schema[key]
  if (value === undefined) return undefined
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw unsupported(below(pointer, key), `${key} must be a whole number, 0 or more`)
}

export function numberOf({ schema, pointer }: Located, key: string): number | undefined {
  const value = schema[key]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw unsupported(below(pointer, key), `${key} must be a number`)
}

export function listOf({ schema, pointer }: Located, key: string): unknown[] | undefined {
  const value = schema[key]
  if (value === undefined) return undefined
  if (Array.isArray(value)) return value
  throw unsupported(below(pointer, key), `${key} must be a list`)
}

export function textOf({ schema, pointer }: Located, key: string): string | undefined {
  const value = schema[key]
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  throw unsupported(below(pointer, key), `${key} must be a text`)
}

/** The entries of a keyword that names schemas. */
export function schemasOf({ schema, pointer }: Located, key: string): Map<string, Located | boolean> {
  const value = schema[key]
  if (value === undefined) return new Map()
  if (!isJsonObject(value)) throw unsupported(below(pointer, key), `${key} must be an object`)
  return new Map(Object.entries(value).map(([name, one]) => [name, located(one, below(pointer, key, name))]))
}
