import { randomBytes } from 'node:crypto'
import { messageOf, TrinityError } from '../base/error.js'

/** How a client speaks with a server of mode serve. */
export interface ClientOptions {
  /** `explorer.proxy_api_key` of the server, where it has one. */
  readonly apiKey?: string
  /** Attempts at one task are compared with each other. Default: random. */
  readonly taskId?: string
  /** Which attempt at the task this is. Default: 0. */
  readonly runId?: number
}

/** What feedback is about, where it is not about everything since the last one. */
export interface FeedbackOptions {
  /** Ids of replies. */
  readonly ids?: readonly string[]
  readonly timeoutMs?: number
}

const ALIVE_MS = 2000
const FEEDBACK_MS = 10_000
const METRICS_MS = 5000

/**
 * An agent's side of `mode: serve`: where the model is, and a way to say what its answers were worth. Make one for each
 * attempt at a task.
 * @example
 * import { TrinityClient } from 'trinity-rft'
 *
 * export async function attempt(taskId: string, runId: number) {
 *   const client = new TrinityClient('http://127.0.0.1:8010', { taskId, runId })
 *   const body = JSON.stringify({ messages: [{ role: 'user', content: 'Name a color.' }] })
 *   const headers = { 'content-type': 'application/json' }
 *   const response = await client.fetch(`${client.baseURL}/chat/completions`, { method: 'POST', headers, body })
 *   await client.feedback((await response.text()).includes('blue'))
 * }
 */
export class TrinityClient {
  readonly url: string
  readonly apiKey: string
  readonly taskId: string
  readonly runId: number
  #session = sessionName()
  #ids: string[] = []

  /** `url`: as the server says it, and writes it into `<explorer>_server_url.txt` of the job's folder. */
  constructor(url: string, { apiKey = 'EMPTY', taskId, runId = 0 }: ClientOptions = {}) {
    this.url = addressOf(url)
    this.apiKey = apiKey
    this.taskId = taskId ?? randomBytes(3).toString('hex')
    this.runId = runId
  }

  /** Of the OpenAI API. */
  get baseURL(): string {
    return `${this.url}/v1`
  }

  /** Of the Anthropic API. */
  get anthropicBaseURL(): string {
    return this.url
  }

  /** For a client of the OpenAI SDK: `new OpenAI(client.openai)`. What it is answered is noted for `feedback`. */
  get openai(): { baseURL: string; apiKey: string; fetch: typeof fetch } {
    return { baseURL: this.baseURL, apiKey: this.apiKey, fetch: this.fetch }
  }

  /** The same for that of Anthropic: `new Anthropic(client.anthropic)`. */
  get anthropic(): { baseURL: string; apiKey: string; fetch: typeof fetch } {
    return { ...this.openai, baseURL: this.anthropicBaseURL }
  }

  /** Ids of the replies that were read to their end since the last feedback. */
  get ids(): readonly string[] {
    return this.#ids
  }

  /** Like the global one, for calls of the model: notes the id of each reply that was read to its end. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    if (!request.headers.has('authorization') && !request.headers.has('x-api-key')) {
      request.headers.set('authorization', `Bearer ${this.apiKey}`)
    }
    if (!request.headers.has(SESSION)) request.headers.set(SESSION, this.#session)
    const response = await fetch(request)
    const id = response.headers.get('x-request-id')
    if (!response.ok || !response.body || request.method !== 'POST' || id === null) return response
    const noted = new TransformStream({ flush: () => void this.#ids.push(id) })
    return new Response(response.body.pipeThrough(noted), response)
  }

  /** Whether the server answers. */
  async alive(): Promise<boolean> {
    return fetch(`${this.url}/health`, { signal: AbortSignal.timeout(ALIVE_MS) }).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  /**
   * Says what replies were worth: all of this client since the last feedback, or those that are named. What was rated
   * before keeps its reward, so that it may be said again where it is not known whether it has arrived.
   */
  async feedback(reward: number | boolean, options: FeedbackOptions = {}): Promise<{ count: number }> {
    const { ids = [...this.#ids], timeoutMs = FEEDBACK_MS } = options
    if (ids.length === 0) {
      throw new TrinityError('serve/no-answers', 'there is no answer that the feedback could be about', {
        hint: 'call the model with fetch of this client and read the reply to its end, or give ids',
      })
    }
    const body = { reward, msg_ids: ids, task_id: this.taskId, run_id: this.runId }
    const { count } = await this.#ask('POST', '/feedback', timeoutMs, body)
    this.#ids = this.#ids.filter((id) => !ids.includes(id))
    // what comes now is another conversation
    if (this.#ids.length === 0) this.#session = sessionName()
    return { count: Number(count) }
  }

  /** Gives everything that was rated, by this client or others, to the trainer. */
  async commit({ timeoutMs = FEEDBACK_MS }: { timeoutMs?: number } = {}): Promise<{ count: number; step: number }> {
    const { count, step } = await this.#ask('POST', '/commit', timeoutMs)
    return { count: Number(count), step: Number(step) }
  }

  /** Numbers of the server, such as `rollout/ready_experience_count`. */
  metrics({ timeoutMs = METRICS_MS }: { timeoutMs?: number } = {}): Promise<Record<string, number>> {
    return this.#ask('GET', '/metrics?format=json', timeoutMs) as Promise<Record<string, number>>
  }

  async #ask(method: string, path: string, timeoutMs: number, body?: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(timeoutMs)
    const request = { method, headers, signal, body: body && JSON.stringify(body) }
    const where = `${method} ${this.url}${path}`
    const response = await fetch(this.url + path, request).catch((cause) => {
      throw new TrinityError('serve/unreachable', `${where}: ${messageOf(cause)}`, {
        path: this.url,
        hint: 'is the server running, and is this its address?',
        cause,
      })
    })
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>
    if (response.ok) return answer
    const told = (answer.error as { message?: unknown } | undefined)?.message
    throw new TrinityError('serve/refused', `${where}: ${response.status}${told === undefined ? '' : ` ${told}`}`, {
      path: this.url,
    })
  }
}

/** Keeps the conversations of clients apart that say the same. */
const SESSION = 'x-trinity-session'
const sessionName = () => randomBytes(12).toString('hex')

function addressOf(url: string): string {
  const text = typeof url === 'string' ? url.trim() : ''
  if (/^https?:\/\/./i.test(text) && URL.canParse(text)) return text.replace(/\/+(v1\/*)?$/, '')
  throw new TrinityError('serve/url', `${JSON.stringify(url)} is no address of a server`, {
    path: 'url',
    hint: 'write it as the server says it: http://127.0.0.1:8010',
  })
}
