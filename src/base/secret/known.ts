import { isSecretEntry, isSecretVariable } from './name.js'
import { HIDDEN, isHarmless, passwordsOf, withoutCredentials, withoutPassword } from './url.js'

/** Shorter values are hidden where they stand alone, and not searched for in other texts: they are in every text. */
const SHORTEST = 6

/** Every secret this process has met, by value, with what is shown for it. */
const known = new Map<string, string>()
let pattern: RegExp | undefined

/** From now on, no text of this process shows the value. */
export function rememberSecret(value: string, shown = HIDDEN): void {
  if (isHarmless(value) || value === shown) return
  const lines = value.includes('\n') ? value.split('\n').filter((line) => line.trim().length >= SHORTEST) : []
  for (const one of [value, value.trim(), ...spellings(value)]) if (one !== '' && !known.has(one)) known.set(one, shown)
  for (const line of lines) if (!known.has(line)) known.set(line, HIDDEN)
  pattern = undefined
}

/** For test files that share a process: what one has met is no secret to the next. */
export function forgetSecrets(): void {
  known.clear()
  pattern = undefined
}

/** The passwords of a URL. */
export function rememberUrl(text: string): void {
  for (const password of passwordsOf(text.trim())) rememberSecret(password)
}

/** The value of `a.b.api_key=value`. */
export function rememberAssignment(text: string): void {
  const equals = text.indexOf('=')
  const [key, value] = [text.slice(0, Math.max(equals, 0)), text.slice(equals + 1).trim()]
  const parts = key.split(/[.[\]]+/)
  if (parts.some((part) => isSecretEntry(part, value) || /^env_?vars?$/i.test(part))) rememberSecret(value)
  else rememberUrl(value)
}

/** What the environment holds under secret names. Plain words stay: a mode named `disabled` is in many sentences. */
export function rememberEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value = ''] of Object.entries(env)) {
    if (isSecretVariable(name) && value.length >= SHORTEST && !/^([a-z]+|\d+)$/i.test(value)) rememberSecret(value)
    else rememberUrl(value)
  }
}

/** A text as it may be shown, sent or stored: without known secrets, and without credentials in URLs. */
export function redact(text: string): string {
  return withoutCredentials(withoutKnown(text))
}

/** The same for a value that stands alone, such as one of a configuration. */
export function redactValue(text: string): string {
  return withoutCredentials(withoutPassword(withoutKnown(known.get(text) ?? text)))
}

/** Every text in plain data. */
export function redactAll<T>(value: T): T {
  if (typeof value === 'string') return redact(value) as T
  if (Array.isArray(value)) return value.map(redactAll) as T
  if (value === null || typeof value !== 'object') return value
  const proto = Object.getPrototypeOf(value)
  if (proto !== Object.prototype && proto !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactAll(item)])) as T
}

function withoutKnown(text: string): string {
  if (known.size === 0) return text
  pattern ??= patternOf([...known.keys()])
  const shown = (found: string) => known.get(found) ?? HIDDEN
  // twice: what is shown for a text with one secret may hold another
  return text.replace(pattern, shown).replace(pattern, shown)
}

/** Longest first, so that a secret inside a longer one does not leave the rest of it. */
function patternOf(values: readonly string[]): RegExp {
  const long = values.filter((value) => value.length >= SHORTEST).sort((a, b) => b.length - a.length)
  // a password that is a word or a number is hidden as a whole word, not in the middle of others
  const parts = long.map((value) =>
    /^([a-z]+|\d+)$/i.test(value) ? `(?<![a-z\\d])${value}(?![a-z\\d])` : escaped(value),
  )
  return parts.length === 0 ? /(?!)/g : new RegExp(parts.join('|'), 'g')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

/** As it may stand in a URL or in JSON. */
function spellings(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  try {
    return [encodeURIComponent(value), encodeURI(value), json]
  } catch {
    // half of a surrogate pair has no place in a URL
    return [json]
  }
}
