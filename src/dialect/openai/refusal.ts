import type { Refusal, Wire } from '../dialect.js'

/** Types of errors that the SDKs of the OpenAI API know, by status. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

export function openaiRefusal({ status, code, message, param }: Refusal): Wire {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { error: { message, type, param: param ?? null, code } }
}
