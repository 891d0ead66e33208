/** Servers that are spoken to over HTTP. */
export { HttpError } from './error.js'
export type { RetryPolicy } from './retry.js'
export { type CallOptions, type HttpAnswer, HttpService, type HttpServiceOptions } from './service.js'
