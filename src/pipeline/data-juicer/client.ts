import { messageOf, TrinityError } from '../../base/error.js'
import type { Config, Given } from '../../config/index.js'

/** `service.data_juicer`. */
export type DataJuicerService = Given<NonNullable<Config['service']['data_juicer']>>

/** Milliseconds: creating a session may load models; a batch, or a whole task set, may go through a language model. */
const DEADLINE = { health: 10_000, create: 600_000, process: 1_800_000, tasks: 24 * 3_600_000, close: 30_000 }

/** A Data-Juicer service over HTTP. */
export class DataJuicerClient {
  readonly #url: string

  constructor({ server_url, auto_start, port }: DataJuicerService) {
    const url = server_url ?? (port ? `http://localhost:${port}` : undefined)
    if (!url) {
      throw new TrinityError('data-juicer/config', 'no Data-Juicer service is configured', {
        path: 'service.data_juicer.server_url',
        hint: auto_start
          ? 'auto_start cannot be used: the service is a Python program; start it yourself and set server_url'
          : 'start the service and set server_url, for example http://localhost:5005',
      })
    }
    this.#url = url.replace(/\/+$/, '')
  }

  async create(config: Record<string, unknown>): Promise<DataJuicerSession> {
    await this.send('/health', {}, DEADLINE.health)
    const answer = await this.send('/create', json(config), DEADLINE.create)
    const { session_id } = (await answer.json()) as { session_id?: string }
    if (typeof session_id !== 'string') {
      throw new TrinityError('data-juicer/answer', `${this.#url}/create gave no session_id`, { path: this.#url })
    }
    return new DataJuicerSession(this, session_id)
  }

  async send(path: string, request: RequestInit, deadlineMs: number, signal?: AbortSignal): Promise<Response> {
    const limit = AbortSignal.timeout(deadlineMs)
    let answer: Response
    try {
      answer = await fetch(this.#url + path, { ...request, signal: signal ? AbortSignal.any([signal, limit]) : limit })
    } catch (cause) {
      const why = limit.aborted ? `no answer within ${deadlineMs / 1000} s` : messageOf((cause as Error).cause ?? cause)
      throw new TrinityError('data-juicer/unreachable', `${this.#url}${path}: ${why}`, {
        path: this.#url,
        hint: 'is the Data-Juicer service running?',
        cause,
      })
    }
    if (answer.ok) return answer
    const text = await answer.text()
    throw new TrinityError('data-juicer/refused', `${this.#url}${path}: ${answer.status} ${errorOf(text)}`, {
      path: this.#url,
    })
  }
}

export class DataJuicerSession {
  readonly #client: DataJuicerClient
  readonly #id: string

  constructor(client: DataJuicerClient, id: string) {
    this.#client = client
    this.#id = id
  }

  /** An Arrow stream there, an Arrow stream back. */
  async process(
    stream: Uint8Array,
    signal?: AbortSignal,
  ): Promise<{ table: Uint8Array; metrics: Record<string, number> }> {
    const form = new FormData()
    form.set('session_id', this.#id)
    form.set('arrow_data', new Blob([stream]), 'dataset.arrow')
    const answer = await this.#client.send(
      '/process_experience',
      { method: 'POST', body: form },
      DEADLINE.process,
      signal,
    )
    const table = new Uint8Array(await answer.arrayBuffer())
    return { table, metrics: numbers(answer.headers.get('X-Metrics')) }
  }

  /** Files named when the session was created go through its operators; the service writes the result itself. */
  async processTasks(signal?: AbortSignal): Promise<Record<string, number>> {
    const request = json({ session_id: this.#id })
    const answer = await this.#client.send('/process_task', request, DEADLINE.tasks, signal)
    const { metrics } = (await answer.json()) as { metrics?: unknown }
    return onlyNumbers(metrics)
  }

  async close(): Promise<void> {
    await this.#client.send('/close', json({ session_id: this.#id }), DEADLINE.close)
  }
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function numbers(text: string | null): Record<string, number> {
  if (!text) return {}
  try {
    return onlyNumbers(JSON.parse(text))
  } catch {
    return {}
  }
}

function onlyNumbers(given: unknown): Record<string, number> {
  const entries = Object.entries((given ?? {}) as Record<string, unknown>)
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

function errorOf(text: string): string {
  try {
    return String((JSON.parse(text) as { error?: unknown }).error ?? text)
  } catch {
    return text.slice(0, 300)
  }
}
