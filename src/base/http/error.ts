import { TrinityError, type TrinityErrorOptions } from '../error.js'
import { jsonIn } from '../json-text.js'
import { redact } from '../secret/index.js'

/** A call of a server that did not bring what was asked for. */
export class HttpError extends TrinityError {
  /** Undefined: there was no answer. */
  readonly status: number | undefined
  /** What the server says itself, cut and without secrets. */
  readonly said: string
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | undefined
  /** The server has certainly done nothing, so that the call may be repeated whatever it asks for. */
  readonly isUndone: boolean

  constructor(code: string, message: string, options: HttpErrorOptions = {}) {
    super(code, message, options)
    this.status = options.status
    this.said = redact(options.said ?? '')
    this.retryAfterMs = options.retryAfterMs
    this.isUndone = options.isUndone ?? UNDONE.has(options.status ?? 0)
  }

  /** Nobody was ever there: see HttpServiceOptions.mustBeThere. */
  get isAbsent(): boolean {
    return this.code.endsWith('/absent')
  }

  /** Whether the same call may succeed later. */
  get isPassing(): boolean {
    const { status, code } = this
    if (status === undefined) return /\/(unreachable|cut)$/.test(code)
    return UNDONE.has(status) || (status >= 500 && status !== 501 && status !== 505)
  }
}

interface HttpErrorOptions extends TrinityErrorOptions {
  readonly status?: number
  readonly said?: string
  readonly retryAfterMs?: number
  readonly isUndone?: boolean
}

/** Too slow in asking, too early, too often: each says that nothing was done. */
const UNDONE = new Set([408, 425, 429])

/** The last part of the code of an error, for a status that is no success. */
export function codeOf(status: number): string {
  if (status < 400) return 'redirect'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404 || status === 405) return 'not-found'
  if (status === 429) return 'busy'
  return status < 500 ? 'refused' : 'failed'
}

const HINTS: Readonly<Record<string, string>> = {
  unreachable: 'is the server running, and is this its address?',
  absent: 'is the server running, and is this its address?',
  unauthorized: 'check the key',
  'not-found': 'check the address: which path does the server have its routes below?',
  redirect: 'redirects are not followed; set the address to where the server really is',
  busy: 'send fewer requests at once, or wait',
  failed: "see the server's own log",
  cut: "see the server's own log",
}

/** How to fix it, for the last part of a code. */
export function hintOf(what: string): string | undefined {
  return HINTS[what]
}

const LONGEST = 300

/** What a server says about a failure, out of the forms that servers say it in. */
export function wordsOf(body: string): string {
  const text = words(jsonIn(body)) ?? withoutTags(body)
  // hidden before it is cut: half a secret is not recognized any more
  const clean = redact(text).replace(/\s+/g, ' ').trim()
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean
}

function words(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map((one) => words(one) ?? JSON.stringify(one)).join('; ')
  if (value === null || typeof value !== 'object') return undefined
  const { error, message, detail, msg, loc } = value as Record<string, unknown>
  const place = Array.isArray(loc) ? `${loc.join('.')}: ` : ''
  for (const one of [message, detail, msg, error]) {
    const found = words(one)
    if (found) return place + found
  }
  return undefined
}

/** A page for people says in its title what is wrong. */
function withoutTags(text: string): string {
  if (!/^\s*<(!doctype|html|head|\?xml)/i.test(text)) return text
  return /<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text.replace(/<[^>]*>/g, ' ')
}
