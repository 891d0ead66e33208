import { TrinityError } from '../base/error.js'
import { isWrongUse } from '../base/wrong-use.js'

/** Codes with a status of their own. Others of ours are wrong questions, the rest are failures. */
const STATUS = {
  'studio/key': 401,
  'gateway/host': 403,
  'gateway/origin': 403,
  'studio/outside': 403,
  'studio/taken': 403,
  'studio/origin': 403,
  'studio/exists': 409,
  'studio/running': 409,
  'studio/stop': 409,
  'studio/unknown-files': 409,
  'checkpoint/in-use': 409,
  'studio/busy': 423,
  'studio/faults': 422,
} as const
const GONE = /^studio\/no-/

/** What the server answers to who asked for something that ends in this error. */
export function statusOf(error: unknown): 400 | 401 | 403 | 404 | 409 | 422 | 423 | 500 {
  if (!(error instanceof TrinityError)) return 500
  const own = STATUS[error.code as keyof typeof STATUS]
  if (own) return own
  if (GONE.test(error.code)) return 404
  return error.code === 'studio/query' || isWrongUse(error) ? 400 : 500
}
