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

/** Schemes that are known well enough to be seen where the rest of the URL is written wrongly. */
const KNOWN = '(?:postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongodb|amqp|https?|ftp|ssh)s?(?:\\+\\w{1,20})?'
/**
 * What somebody meant for a URL with a password in it: a colon or a slash is missing, or the whole scheme. As above, a
 * password goes up to the last at sign.
 */
const MEANT = new RegExp(`^(\\s*(?:${KNOWN}[:/]+)?)([^\\s:@/?#"'\`<>]*):([^\\s"'\`<>]*)@(?=[^\\s@]*$)`, 'i')
/** The same in a running text, where only what a scheme, a port, a path or a number of a host shows is a URL. */
const MEANT_IN_TEXT = new RegExp(
  `((?<![\\w.%+-])${KNOWN}(?:://?|:|//)[\\w.%+-]{0,64}):([^\\s"'\`<>:/][^\\s"'\`<>]{0,200})@(?=[\\w[])` +
    `|((?<![\\w.%+:/-])[\\w.%+-]{1,64}):([^\\s"'\`<>/]{1,200})@(?=(?:[\\w-]{1,63}\\.)*[\\w-]{1,63}(?::\\d|/)|\\d{1,3}(?:\\.\\d{1,3}){3}|localhost\\b|\\[)`,
  'gi',
)

/** Whether a text that stands for a file or a database is no path: it has a scheme, or a user and a password. */
export function looksLikeUrl(path: string): boolean {
  if (/^\s*(\.{0,2}[/\\]|[a-z]:[/\\])/i.test(path)) return false
  return new RegExp(`^\\s*(?:[a-z][a-z\\d+.-]+:[/\\\\]|${KNOWN}(?::|//))`, 'i').test(path) || /:.*@/.test(path)
}

/** A URL without its password and without secrets in its query. The whole text is taken for the URL. */
export function withoutPassword(url: string): string {
  const scheme = new RegExp(`^${SCHEME.source}`, 'i').exec(url.trimStart())?.[0]
  if (scheme === undefined) return withoutAssignments(url.replace(MEANT, hideMeant))
  const begin = url.indexOf(scheme) + scheme.length
  return url.slice(0, begin) + withoutAssignments(bare(url.slice(begin)))
}

/** A text with every URL in it treated so, and every `secret_name=value` and `Authorization: …`. */
export function withoutCredentials(text: string): string {
  const urls = text.replace(IN_TEXT, (_, scheme: string, rest: string) => scheme + bare(rest))
  const meant = urls.replace(MEANT_IN_TEXT, (whole, a = '', b = '', c = '', d = '') =>
    isHarmless(b || d) ? whole : `${a || c}:${HIDDEN}@`,
  )
  return withoutAssignments(meant).replace(AUTHORIZATION, (_, head: string) => `${head}${HIDDEN}`)
}

/** The passwords of a URL, as written and decoded. */
export function passwordsOf(url: string): string[] {
  const begin = SCHEME.exec(url)
  if (begin?.index !== 0) {
    const password = MEANT.exec(url)?.[3] ?? ''
    return [...new Set([password, decoded(password)])].filter((one) => !isHarmless(one))
  }
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

function hideMeant(whole: string, scheme: string, user: string, password: string): string {
  return isHarmless(password) ? whole : `${scheme}${user}:${HIDDEN}@`
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
