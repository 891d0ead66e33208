import { isAbsolute } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Refusal } from '../dialect/dialect.js'

/** What went wrong, as HTTP tells it. */
export interface HttpRefusal extends Refusal {
  /** Seconds after which it is worth another try. */
  readonly retryAfter?: number
}

/** Codes with a status of their own. */
const STATUS: Readonly<Record<string, number>> = {
  'gateway/key': 401,
  'gateway/host': 403,
  'gateway/origin': 403,
  'gateway/route': 404,
  'gateway/session': 404,
  'gateway/model': 404,
  'serve/unknown-message': 404,
  'gateway/method': 405,
  'gateway/slow-body': 408,
  'gateway/too-large': 413,
  'gateway/media-type': 415,
  'gateway/busy': 429,
  'engine/busy': 429,
  'gateway/left': 499,
  'engine/worker-died': 502,
  'engine/server-gone': 502,
  'engine/frame': 502,
  'gateway/closing': 503,
  'gateway/paused': 503,
  'engine/closed': 503,
  'engine/aborted': 503,
  'gateway/call-time': 504,
  'engine/deadline': 504,
  'engine/worker-hung': 504,
}

/** Areas whose errors say that the request asks for what cannot be done, and the codes among them that do not. */
const CLIENT = new Set(['gateway', 'dialect', 'chat', 'grammar', 'args'])
const OURS = new Set(['chat/missing', 'chat/template', 'chat/offsets', 'grammar/strayed', 'grammar/tokenizer'])
/** The same in areas that are otherwise ours. */
const THEIRS = new Set([
  'workflow/prompt-too-long',
  'workflow/args',
  'engine/bad-request',
  'engine/bad-row',
  'engine/unsupported',
  'engine/no-token',
])

/** Words that SDKs and agents know. */
const WORDS: Readonly<Record<string, string>> = {
  'gateway/key': 'invalid_api_key',
  'gateway/model': 'model_not_found',
  'gateway/busy': 'rate_limit_exceeded',
  'engine/busy': 'rate_limit_exceeded',
  'workflow/prompt-too-long': 'context_length_exceeded',
}

const RETRY_AFTER_S: Readonly<Record<number, number>> = { 429: 1, 503: 2 }

/** An error as the client sees it. What is not our own error class stays inside: its text may say anything. */
export function refusalOf(error: unknown): HttpRefusal {
  if (!(error instanceof TrinityError)) {
    return { status: 500, code: 'internal_error', message: 'the server failed; its log says why' }
  }
  const { code, message, hint, path } = error
  const status = statusOf(code)
  return {
    status,
    code: WORDS[code] ?? code,
    message: hint === undefined ? message : `${message} (${hint})`,
    // the place of a file is none of the client's business
    param: (status === 400 || status === 404) && path !== undefined && !isAbsolute(path) ? path : undefined,
    retryAfter: RETRY_AFTER_S[status],
  }
}

function statusOf(code: string): number {
  if (STATUS[code] !== undefined) return STATUS[code]
  const theirs = THEIRS.has(code) || (CLIENT.has(code.slice(0, code.indexOf('/'))) && !OURS.has(code))
  return theirs ? 400 : 500
}
