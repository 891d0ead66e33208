import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { type CallOptions, type HttpAnswer, HttpService } from '../../base/http/index.js'
import type { Config, Given } from '../../config/index.js'

/** `service.data_juicer`. */
export type DataJuicerService = Given<NonNullable<Config['service']['data_juicer']>>

/** Milliseconds: creating a session may load models; a batch, or a whole task set, may go through a language model. */
const DEADLINE = { health: 10_000, create: 600_000, process: 1_800_000, tasks: 24 * 3_600_000, close: 30_000 }
/** Texts of a whole batch. */
const MAX_BYTES = 2 ** 30

const created = z.object({ session_id: z.string() })
const anything = z.unknown()

/** A Data-Juicer service over HTTP. */
export class DataJuicerClient {
  readonly #service: HttpService

  constructor({ server_url, port }: DataJuicerService) {
    const url = server_url ?? (port ? `http://localhost:${port}` : undefined)
    if (!url) {
      throw new TrinityError('data-juicer/config', 'no Data-Juicer service is configured', {
        path: 'service.data_juicer.server_url',
        hint: 'set auto_start: true, or start the service and set server_url, for example http://localhost:5005',
      })
    }
    this.#service = new HttpService({
      name: 'the Data-Juicer service',
      baseUrl: url,
      code: 'data-juicer',
      maxBytes: MAX_BYTES,
      hint: (status) => (status === undefined ? 'is the Data-Juicer service running?' : undefined),
    })
  }

  async create(config: Record<string, unknown>, signal?: AbortSignal): Promise<DataJuicerSession> {
    const service = this.#service
    await service.json('GET', '/health', undefined, anything, { deadlineMs: DEADLINE.health, signal })
    const { session_id } = await service.json('POST', '/create', config, created, {
      deadlineMs: DEADLINE.create,
      signal,
    })
    return new DataJuicerSession(service, session_id)
  }
}

export class DataJuicerSession {
  readonly #service: HttpService
  readonly #id: string

  constructor(service: HttpService, id: string) {
    this.#service = service
    this.#id = id
  }

  /** An Arrow stream there, an Arrow stream back. */
  async process(
    stream: Uint8Array,
    signal?: AbortSignal,
  ): Promise<{ table: Uint8Array; metrics: Record<string, number> }> {
    const form = new FormData()
    form.set('session_id', this.#id)
    form.set('arrow_data', new Blob([stream as Uint8Array<ArrayBuffer>]), 'dataset.arrow')
    const { headers, bytes } = await this.#send('/process_experience', form, { deadlineMs: DEADLINE.process, signal })
    return { table: bytes, metrics: numbers(headers['x-metrics']) }
  }

  /** Files named when the session was created go through its operators; the service writes the result itself. */
  async processTasks(signal?: AbortSignal): Promise<Record<string, number>> {
    const body = { session_id: this.#id }
    const schema = z.object({ metrics: z.unknown().optional() })
    const { metrics } = await this.#service.json('POST', '/process_task', body, schema, {
      deadlineMs: DEADLINE.tasks,
      signal,
    })
    return onlyNumbers(metrics)
  }

  async close(): Promise<void> {
    try {
      await this.#service.send('POST', '/close', { session_id: this.#id }, { deadlineMs: DEADLINE.close })
    } finally {
      this.#service.close()
    }
  }

  async #send(route: string, form: FormData, options: CallOptions): Promise<HttpAnswer> {
    const written = new Response(form)
    const type = written.headers.get('content-type') ?? undefined
    const body = new Uint8Array(await written.arrayBuffer())
    return this.#service.send('POST', route, body, { ...options, headers: { 'content-type': type } })
  }
}

function numbers(header: string | string[] | undefined): Record<string, number> {
  if (typeof header !== 'string') return {}
  try {
    return onlyNumbers(JSON.parse(header))
  } catch {
    return {}
  }
}

function onlyNumbers(given: unknown): Record<string, number> {
  const entries = Object.entries((given ?? {}) as Record<string, unknown>)
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}
