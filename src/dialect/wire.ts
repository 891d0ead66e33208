import type { z } from 'zod'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import { checkAnswerField, isAnswerField } from './answer-fields.js'
import type { Wire } from './dialect.js'
import type { RequestNotes } from './request-notes.js'

/**
 * Returns the fields of a request, with their types checked; null means absent. Throws if a field that changes the answer
 * is not one of the dialect. Other unknown fields are ignored and recorded, also inside of objects.
 */
export function readBody<S extends z.ZodObject>(schema: S, body: Wire, notes: RequestNotes): z.output<S> {
  const { shape } = schema
  const unknown: string[] = []
  let given: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    if (Object.hasOwn(shape, key)) given[key] = value
    else if (isAnswerField(key)) checkAnswerField(key, value)
    else unknown.push(key)
  }
  let parsed = schema.safeParse(given)
  const nested = parsed.success ? [] : parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  if (nested.length > 0) {
    for (const { path, keys } of nested) {
      given = without(given, path, new Set(keys))
      for (const key of keys) unknown.push([...path, key].join('.'))
    }
    parsed = schema.safeParse(given)
  }
  if (!parsed.success) {
    const [{ key, message }] = argumentProblems(schema, given, parsed.error.issues)
    throw new TrinityError('dialect/invalid', `${key}: ${message}`, { path: key })
  }
  if (unknown.length > 0) notes.ignoreFields(unknown, Object.keys(shape))
  return parsed.data
}

/** Copies an object without some keys of the object at a path. */
function without(value: Wire, path: readonly PropertyKey[], keys: ReadonlySet<string>): Record<string, unknown> {
  if (path.length === 0) return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
  const [first, ...rest] = path.map(String)
  return { ...value, [first]: without(value[first] as Wire, rest, keys) }
}

export function unsupported(path: string, what: string, hint = 'leave it out'): TrinityError {
  return new TrinityError('dialect/unsupported', `${what} is not supported here`, { path, hint })
}

export function wireObject(value: unknown, path: string): Wire {
  if (isJsonObject(value)) return value
  throw wrong(path, 'an object')
}

export function wireList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrong(path, 'a list')
}

export function wireText(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw wrong(path, 'a text')
}

function wrong(path: string, expected: string): TrinityError {
  return new TrinityError('dialect/invalid', `${path} must be ${expected}`, { path })
}

/** Keys of parts that hold text, by the type of the part. */
export type TextParts = Readonly<Record<string, string>>

/** A text, or the texts of a list of parts. Other parts (images, audio, files) are refused. */
export function contentText(content: unknown, path: string, parts: TextParts, between: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw wrong(path, 'a text, or a list of parts')
  return content.map((part, i) => partText(part, `${path}[${i}]`, parts)).join(between)
}

export function partText(given: unknown, path: string, parts: TextParts): string {
  const part = wireObject(given, path)
  const key = typeof part.type === 'string' && Object.hasOwn(parts, part.type) ? parts[part.type] : undefined
  if (key !== undefined) return wireText(part[key], `${path}.${key}`)
  throw unsupported(path, `a part of type ${JSON.stringify(part.type)}`, 'give text')
}

/** A session that a client names in its own keys or in what it may say of a request. */
export function sessionOf(body: Wire): string | undefined {
  const metadata = isJsonObject(body.metadata) ? body.metadata : {}
  const named = [body.session_id, metadata.session_id, metadata.session, metadata.user_id, body.user]
  return named.find((one) => typeof one === 'string' && one !== '') as string | undefined
}
