import { messageOf, TrinityError } from '../base/error.js'
import type { ApiError } from './api.js'

/** What the page hears of an error. */
export function errorBody(error: unknown): ApiError {
  if (!(error instanceof TrinityError)) return { error: { code: 'studio/failure', message: messageOf(error) } }
  const { code, message, hint, path } = error
  return { error: { code, message, hint, path } }
}
