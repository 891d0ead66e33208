import { messageOf } from '../../base/error.js'
import { jsonIn } from '../../base/json-text.js'

/** A service that answered, but not with success. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  /** The service's own code, where its answer has one. */
  readonly code: string | undefined

  constructor(status: number, message: string, code?: string) {
    super(message)
    this.status = status
    this.code = code
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 425 || this.status === 429
  }

  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403
  }
}

export interface HttpRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000
const LONGEST_TEXT = 300

/** Sends a request and reads the answer as JSON. Throws HttpError, or what the network says. */
export async function http(url: string, request: HttpRequest = {}): Promise<unknown> {
  const { method = 'POST', headers = {}, body, signal, timeoutMs = TIMEOUT_MS } = request
  const limit = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    text = await response.text()
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause
    throw new Error(`${new URL(url).origin}: ${messageOf(cause ?? error)}`, { cause: error })
  }
  const answer = jsonIn(text)
  if (response.ok) return answer
  const { message, error_code, error } = (answer ?? {}) as { message?: unknown; error_code?: unknown; error?: unknown }
  const said = [message, error, text].find((one) => typeof one === 'string' && one !== '') as string | undefined
  const about = `${method} ${new URL(url).pathname} was answered with ${response.status}`
  throw new HttpError(
    response.status,
    said ? `${about}: ${said.slice(0, LONGEST_TEXT)}` : about,
    typeof error_code === 'string' ? error_code : undefined,
  )
}

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
