import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type CallOptions, HttpError, HttpService } from '../../base/http/index.js'
import { rememberSecret } from '../../base/secret/index.js'

const ENDED = ['STOPPED', 'SUCCEEDED', 'FAILED'] as const
const STATUS = ['PENDING', 'RUNNING', ...ENDED] as const

const version = z.object({ ray_version: z.string() })
const submitted = z.object({ submission_id: z.string().min(1) })
const details = z.object({
  status: z.enum(STATUS),
  message: z.string().nullish(),
  driver_exit_code: z.number().int().nullish(),
})
const logs = z.object({ logs: z.string().nullish() })

/** A job as Ray describes it. */
export interface RayJob {
  readonly status: (typeof STATUS)[number]
  readonly hasEnded: boolean
  readonly message: string
  readonly exitCode: number | undefined
}

/** What is to be run on the cluster. */
export interface Submission {
  readonly id: string
  /** A line for a shell. */
  readonly entrypoint: string
  readonly env: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, string>>
}

/** Longest answer of the dashboard to anything but a log. */
const DEADLINE_MS = 30_000
/** How long a head may take from its first answer until it can start jobs, and how often it is asked. */
const EARLY_MS = 60_000
const AGAIN_MS = 1000

/** Jobs of a Ray cluster, by the REST API of its dashboard. */
export class RayJobs {
  readonly url: string
  readonly #service: HttpService
  readonly #headers: () => Record<string, string>

  constructor(dashboard: string, env: Readonly<Record<string, string | undefined>> = process.env) {
    this.#headers = () => authorization(env)
    this.#service = new HttpService({
      name: 'Ray',
      code: 'ray',
      baseUrl: dashboard,
      deadlineMs: DEADLINE_MS,
      retries: 2,
      maxBytes: 256 * 2 ** 20,
      headers: this.#headers,
      hint: (status) =>
        status === undefined ? 'start it there (ray start --head), or correct the address' : hintOf(status),
    })
    this.url = this.#service.url
  }

  /** Which Ray answers there; an error where none does. */
  async version(options?: CallOptions): Promise<string> {
    return (await this.#service.json('GET', 'api/version', undefined, version, options)).ray_version
  }

  /** Waits for a cluster that has only just been started. */
  async submit({ id, entrypoint, env, metadata }: Submission, options?: CallOptions): Promise<string> {
    const body = { submission_id: id, entrypoint, runtime_env: { env_vars: env }, metadata }
    for (const until = performance.now() + EARLY_MS; ; ) {
      try {
        const answer = await this.#service.json('POST', 'api/jobs/', body, submitted, { ...options, once: true })
        return answer.submission_id
      } catch (error) {
        const isEarly = error instanceof HttpError && error.said.includes('No available agent')
        if (!isEarly || performance.now() > until) throw error
      }
      await sleep(AGAIN_MS, undefined, { signal: options?.signal })
    }
  }

  async job(id: string, options?: CallOptions): Promise<RayJob> {
    const found = await this.#service.json('GET', `api/jobs/${encodeURIComponent(id)}`, undefined, details, options)
    const { status, message, driver_exit_code: exitCode } = found
    const hasEnded = ENDED.some((one) => one === status)
    return { status, hasEnded, message: message ?? '', exitCode: exitCode ?? undefined }
  }

  /** Everything that it has written so far; nothing, before it runs. */
  async logs(id: string, options?: CallOptions): Promise<string> {
    try {
      const route = `api/jobs/${encodeURIComponent(id)}/logs`
      return (await this.#service.json('GET', route, undefined, logs, options)).logs ?? ''
    } catch (error) {
      // the node that it waits for is not there yet
      if (error instanceof HttpError && error.status === 404) return ''
      throw error
    }
  }

  /** What it writes, from its beginning, as it comes; it may break off, and does not end with the job. */
  async *tail(id: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const query = new URLSearchParams({ submission_id: id, lines: '-1' })
    const headers = this.#headers()
    const answer = await fetch(`${this.url}/api/v0/logs/stream?${query}`, { headers, signal, redirect: 'error' })
    if (!answer.ok || answer.body === null) return void (await answer.body?.cancel())
    const decoder = new TextDecoder()
    for await (const piece of answer.body) yield decoder.decode(piece, { stream: true })
  }

  async stop(id: string, options?: CallOptions): Promise<void> {
    await this.#service.send('POST', `api/jobs/${encodeURIComponent(id)}/stop`, undefined, options)
  }

  close(): void {
    this.#service.close()
  }
}

function hintOf(status: number): string | undefined {
  if (status === 401 || status === 403) return 'set RAY_AUTH_TOKEN to the token of the cluster'
  return status === 404 || status === 405 ? 'is this the address of a Ray dashboard (http://host:8265)?' : undefined
}

/** Of a cluster that wants a token; from where Ray's own programs take it. */
function authorization(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const token = env.RAY_AUTH_TOKEN ?? (env.RAY_AUTH_TOKEN_PATH ? textOf(env.RAY_AUTH_TOKEN_PATH) : undefined)
  if (!token?.trim()) return {}
  rememberSecret(token.trim())
  return { authorization: `Bearer ${token.trim()}` }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
