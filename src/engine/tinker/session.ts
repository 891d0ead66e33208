import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/error.js'
import { type CallOptions, HttpService } from '../../base/http/service.js'
import { download } from './download.js'
import { badAnswer } from './failure.js'
import { ForgottenRequest, type Outcome, retrieve } from './future.js'
import { DEFAULT_URL, KEY_VARIABLE, TinkerKey } from './key.js'

/** The release of the official client whose words are spoken here. */
const SPOKEN = '0.25.0'
const HEARTBEAT_MS = 10_000
/** A session is given up by services after minutes without a sign of life; this is when a person is told. */
const SILENCE_MS = 120_000
/** Requests that carry a number of their own are the same request when they are sent again. */
const RETRIES = { times: 8, firstMs: 500, mostMs: 30_000 }
const RESUBMISSIONS = 3

const config = z.looseObject({ pjwt_auth_enabled: z.boolean().default(false) })
const token = z.object({ jwt: z.string().min(1) })
const session = z.object({ session_id: z.string().min(1), error_message: z.string().nullish() })
const future = z.object({ request_id: z.string().min(1) })
const capabilities = z.object({ supported_models: z.array(z.looseObject({ model_name: z.string() })) })

export interface SessionOptions {
  readonly baseUrl?: string
  /** What a person should know. */
  readonly note?: (text: string) => void
}

/** A body that is sent as it is, in protocol buffers. */
export type Body = Uint8Array | Readonly<Record<string, unknown>>

/**
 * A session at a service that speaks the Tinker API. Whatever changes a model is submitted first and its result waited for
 * afterward, so that the order of submission is the order of execution.
 */
export class TinkerSession {
  readonly url: string
  readonly id: string
  readonly #http: HttpService
  readonly #key: TinkerKey
  readonly #note: (text: string) => void
  readonly #heart: NodeJS.Timeout
  #heard = performance.now()
  #models = 0
  #samplers = 0

  private constructor(id: string, http: HttpService, key: TinkerKey, note: (text: string) => void) {
    this.id = id
    this.url = http.url
    this.#http = http
    this.#key = key
    this.#note = note
    this.#heart = setInterval(() => void this.#beat(), HEARTBEAT_MS).unref()
  }

  static async open({ baseUrl, note = () => {} }: SessionOptions, signal: AbortSignal): Promise<TinkerSession> {
    if (baseUrl === undefined && !process.env[KEY_VARIABLE]) throw noKey()
    const key = new TinkerKey()
    const http = new HttpService({
      name: 'the Tinker service',
      baseUrl: baseUrl ?? DEFAULT_URL,
      code: 'tinker',
      headers: () => key.headers(),
      retries: RETRIES,
      deadlineMs: 300_000,
      maxBytes: 2 ** 30,
      hint,
    })
    try {
      await letIn(http, key, signal)
      const body = { tags: ['trinity'], user_metadata: {}, sdk_version: SPOKEN, type: 'create_session' }
      const options = { signal, headers: idempotent() }
      const { session_id, error_message } = await http.json('POST', 'api/v1/create_session', body, session, options)
      if (error_message) throw new TrinityError('tinker/refused', `the Tinker service says: ${error_message}`)
      return new TinkerSession(session_id, http, key, note)
    } catch (error) {
      http.close()
      throw error
    }
  }

  /** Models that may be trained, by name. */
  async models(signal: AbortSignal): Promise<string[]> {
    const given = await this.#http.json('GET', 'api/v1/get_server_capabilities', undefined, capabilities, { signal })
    return given.supported_models.map(({ model_name }) => model_name)
  }

  /** Numbers of models and of sampling sessions inside this session. */
  nextModel(): number {
    return this.#models++
  }

  nextSampler(): number {
    return this.#samplers++
  }

  /** Something that is answered at once. */
  ask<T>(
    method: string,
    route: string,
    body: Body | undefined,
    schema: z.ZodType<T>,
    options: CallOptions,
  ): Promise<T> {
    return this.#http.json(method, `api/v1/${route}`, body, schema, { headers: idempotent(), ...options })
  }

  /** The same, for bytes. */
  send(method: string, route: string, options: CallOptions) {
    return this.#http.send(method, `api/v1/${route}`, undefined, options)
  }

  /** A file that the service has made. */
  download(route: string, signal: AbortSignal): Promise<Uint8Array> {
    return download(`${this.url}/api/v1/${route}`, this.#key.headers(), signal)
  }

  /** Hands a request over; when this returns, it has its place in the order of the model. */
  async submit(route: string, kind: string, body: Body, options: CallOptions = {}): Promise<Submitted> {
    const type: Record<string, string> = body instanceof Uint8Array ? { 'content-type': 'application/x-protobuf' } : {}
    const headers = { ...idempotent(), ...type, ...options.headers }
    const hand = async (signal?: AbortSignal) =>
      (await this.#http.json('POST', `api/v1/${route}`, body, future, { ...options, signal, headers })).request_id
    let id = await hand(options.signal)
    const result = async (signal: AbortSignal) => {
      for (let again = 0; ; again++) {
        try {
          return await retrieve(this.#http, id, kind, signal)
        } catch (error) {
          if (!(error instanceof ForgottenRequest)) throw error
          if (again >= RESUBMISSIONS) throw error.cause
          id = await hand(signal)
        }
      }
    }
    return { result, json: async (schema, signal) => checked(kind, schema, await result(signal)) }
  }

  async close(): Promise<void> {
    clearInterval(this.#heart)
    this.#http.close()
  }

  async #beat(): Promise<void> {
    const body = { session_id: this.id, type: 'session_heartbeat' }
    try {
      if (this.#key.isStale) await this.#key.exchange(() => freshToken(this.#http))
      await this.#http.send('POST', 'api/v1/session_heartbeat', body, { deadlineMs: HEARTBEAT_MS, retries: 0 })
      this.#heard = performance.now()
    } catch (error) {
      const silent = performance.now() - this.#heard
      if (silent < SILENCE_MS) return
      this.#heard = performance.now()
      const minutes = Math.round(silent / 60_000)
      this.#note(`the Tinker service has not heard of this session for ${minutes} minutes: ${messageOf(error)}`)
    }
  }
}

/** A request that has its place, and whose result is still to come. */
export interface Submitted {
  result(signal: AbortSignal): Promise<Outcome>
  json<T>(schema: z.ZodType<T>, signal: AbortSignal): Promise<T>
}

function checked<T>(kind: string, schema: z.ZodType<T>, { json }: Outcome): T {
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues
  throw badAnswer(`the result of ${kind} is not as expected (${path.join('.') || 'all'}: ${message})`)
}

/** Older services have no such route, and no tokens. */
async function letIn(http: HttpService, key: TinkerKey, signal: AbortSignal): Promise<void> {
  const asked = { sdk_version: SPOKEN }
  const given = await http.json('POST', 'api/v1/client/config', asked, config, { signal }).catch((error) => {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  })
  if (given?.pjwt_auth_enabled) await key.exchange(() => freshToken(http, signal))
}

async function freshToken(http: HttpService, signal?: AbortSignal): Promise<string> {
  const headers = TinkerKey.own()
  return (await http.json('POST', 'api/v1/auth/token', {}, token, { signal, headers })).jwt
}

function idempotent(): Record<string, string> {
  return { 'x-idempotency-key': `trinity-${randomUUID()}` }
}

function hint(status: number | undefined): string | undefined {
  if (status === undefined) return 'is the service running, and is model.tinker.base_url its address?'
  if (status === 401 || status === 403) return `set ${KEY_VARIABLE} to a key of this service`
  if (status === 402) return 'the account at the service has to be paid for'
  if (status === 415) return 'the service must speak the Tinker API as client 0.25 does (forward_backward in protobuf)'
  return undefined
}

function noKey(): TrinityError {
  return new TrinityError('tinker/unauthorized', `there is no key for the Tinker service: ${KEY_VARIABLE} is not set`, {
    path: KEY_VARIABLE,
    hint: `set ${KEY_VARIABLE}, or model.tinker.base_url to a service that needs none`,
  })
}
