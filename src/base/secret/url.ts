import { isSecretName } from './name.js'

/** What stands for a secret wherever something is shown. */
export const HIDDEN = '***'

/** Values under secret names that give nothing away. */
export function isHarmless(value: string): boolean {
  return /^(|EMPTY|none|null|true|false|\*+|…)$/i.test(value.trim())
}

/** Bounded, as the names below: a long text without any URL must not cost more than its length. */
const SCHEME = /[a-z][a-z\d+.-]{0,30}:\/\//i
/** Where a URL ends in a running text. */
const IN_TEXT = new RegExp(`(${SCHEME.source})([^\\s"'\`<>]*)`, 'gi')

/** A URL without its password and without secrets in its query. The whole text is taken for the URL. */
export function withoutPassword(url: string): string {
  const scheme = new RegExp(`^${SCHEME.source}`, 'i').exec(url.trimStart())?.[0]
  if (scheme === undefined) return withoutAssignments(url)
  const begin = url.indexOf(scheme) + scheme.length
  return url.slice(0, begin) + withoutAssignments(bare(url.slice(begin)))
}

/** A text with every URL in it treated so, and every `secret_name=value` and `Authorization: …`. */
export function withoutCredentials(text: string): string {
  const urls = text.replace(IN_TEXT, (_, scheme: string, rest: string) => scheme + bare(rest))
  return withoutAssignments(urls).replace(AUTHORIZATION, (_, head: string) => `${head}${HIDDEN}`)
}

/** The passwords of a URL, as written and decoded. */
export function passwordsOf(url: string): string[] {
  const begin = SCHEME.exec(url)
  if (begin?.index !== 0) return []
  const rest = url.slice(begin[0].length)
  const [colon, at] = userInfo(rest) ?? [0, 0]
  const found = at > 0 ? [rest.slice(colon + 1, at)] : []
  for (const [, , name, value] of rest.matchAll(ASSIGNMENT)) if (isSecretQuery(decoded(name))) found.push(value)
  return [...new Set(found.flatMap((one) => [one, decoded(one)]))].filter((one) => !isHarmless(one))
}

/**
 * Where the password begins (its colon) and ends (its at sign). People do not encode what they should: a password may
 * hold `@`, `:`, `/` and `?`, so that it goes up to the last at sign. A URL with a port and an at sign in its path
 * loses more than it must; one with a password never loses less.
 */
function userInfo(rest: string): [colon: number, at: number] | undefined {
  const at = rest.lastIndexOf('@')
  const colon = rest.indexOf(':')
  if (at < 0 || colon < 0 || colon > at || /[/?#]/.test(rest.slice(0, colon))) return undefined
  return [colon, at]
}

function bare(rest: string): string {
  const place = userInfo(rest)
  if (!place || place[1] === place[0] + 1) return rest
  return `${rest.slice(0, place[0] + 1)}${HIDDEN}${rest.slice(place[1])}`
}

/** `?password=…`, `&access_token=…`, `host=db password=…`, `--set a.b.api_key=…`: hides rather too much than too little. */
const ASSIGNMENT = /(^|[?&;#\s'"`({[,])([\w.%[\]-]{1,200})=("[^"]*"|'[^']*'|[^\s&'"]+)/g
const AUTHORIZATION = /(\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"',}]+/gi

function withoutAssignments(text: string): string {
  return text.replace(ASSIGNMENT, (whole, before: string, name: string, value: string) => {
    return isHarmless(value) || !isSecretQuery(decoded(name)) ? whole : `${before}${name}=${HIDDEN}`
  })
}

function isSecretQuery(name: string): boolean {
  return name === 'key' || isSecretName(name)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
