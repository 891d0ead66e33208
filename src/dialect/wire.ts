import type { z } from 'zod'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import { nearest } from '../base/nearest.js'
import type { Wire } from './dialect.js'

/**
 * The keys of a request, of their types; null is the same as absent. A key that the schema does not have is refused: it
 * may ask for something.
 */
export function readBody<S extends z.ZodObject>(schema: S, body: Wire): z.output<S> {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined))
  const known = Object.keys(schema.shape)
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    throw unsupported(key, `'${key}'`, near ? `did you mean '${near}'?` : undefined)
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [{ key, message }] = argumentProblems(schema, given, parsed.error.issues)
  throw new TrinityError('dialect/invalid', `${key}: ${message}`, { path: key })
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
