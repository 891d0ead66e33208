import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { MetricsRow } from '../metrics-file.js'
import { fileName } from '../names.js'
import { basicAuth, HttpError, http } from '../remote/http.js'
import type { Remote, RemoteTable } from '../remote/remote.js'
import { tableJson } from '../remote/table-json.js'
import {
  CREATE_FILES,
  type FilesAnswer,
  lastStepOf,
  RUN_STATUS,
  type StatusAnswer,
  UPSERT_RUN,
  type UpsertAnswer,
} from './graphql.js'

export interface WandbSettings {
  readonly baseUrl: string
  readonly apiKey: string
  readonly entity?: string
  readonly project: string
  readonly name: string
  readonly group: string
  readonly role: string
  readonly config: Readonly<Record<string, unknown>>
}

const CLOUD_API = 'https://api.wandb.ai'
const CLOUD_APP = 'https://wandb.ai'

/** A run of Weights & Biases: made by GraphQL, its history sent as lines to the file stream. */
export class WandbRun implements Remote {
  readonly wantsWholeSteps = true
  readonly #settings: WandbSettings
  readonly #begun = Date.now() / 1000
  readonly #summary: Record<string, number> = {}
  #place = { entity: '', project: '', run: '' }
  /** Lines of the history that the service has. */
  #lines = 0

  constructor(settings: WandbSettings) {
    this.#settings = settings
  }

  async open(known: string | undefined, signal: AbortSignal): Promise<{ run: string; url: string; lastStep?: number }> {
    const { project, entity = null, name, group, role, config, baseUrl } = this.#settings
    const before = known === undefined ? undefined : await this.#status(known, signal)
    // a run that was deleted on the service leaves its id unusable
    const id = known !== undefined && before ? known : randomBytes(4).toString('hex')
    const values = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, { value }]))
    const { upsertBucket } = await this.#query<UpsertAnswer>(
      UPSERT_RUN,
      {
        name: id,
        project,
        entity,
        group,
        displayName: name,
        jobType: role,
        tags: [role],
        config: JSON.stringify(values),
        host: hostname(),
      },
      signal,
    )
    const bucket = upsertBucket?.bucket
    const owner = bucket?.project?.entity?.name
    if (!bucket || !owner) throw new HttpError(422, 'the answer to UpsertBucket has no run')
    this.#place = { entity: owner, project: bucket.project?.name ?? project, run: bucket.name ?? id }
    this.#lines = before?.historyLineCount ?? 0
    const app = baseUrl === CLOUD_API ? CLOUD_APP : baseUrl
    const url = `${app}/${this.#place.entity}/${this.#place.project}/runs/${this.#place.run}`
    return { run: this.#place.run, url, lastStep: lastStepOf(before?.historyTail) }
  }

  async send(rows: readonly MetricsRow[], signal: AbortSignal): Promise<void> {
    const content = rows.map((row) => lineOf({ ...row.metrics, ...this.#stamp(row) }))
    for (const row of rows) Object.assign(this.#summary, row.metrics, this.#stamp(row))
    await this.#stream(
      {
        files: {
          'wandb-history.jsonl': { offset: this.#lines, content },
          'wandb-summary.json': { offset: 0, content: [lineOf(this.#summary)] },
        },
      },
      signal,
    )
    this.#lines += rows.length
  }

  async sendTable({ name, rows, step }: RemoteTable, signal: AbortSignal): Promise<void> {
    const { columns, data } = tableJson(rows)
    const body = JSON.stringify({ columns, data })
    const sha256 = createHash('sha256').update(body).digest('hex')
    const path = `media/table/${fileName(name)}_${step}_${sha256.slice(0, 20)}.table.json`
    await this.#upload(path, body, signal)
    const size = Buffer.byteLength(body)
    const reference = { _type: 'table-file', path, sha256, size, ncols: columns.length, nrows: data.length }
    const row = { step, time: Date.now() / 1000, metrics: {} }
    const content = [JSON.stringify({ [name]: reference, ...this.#stamp(row) })]
    await this.#stream({ files: { 'wandb-history.jsonl': { offset: this.#lines, content } } }, signal)
    this.#lines++
  }

  async alive(signal: AbortSignal): Promise<void> {
    await this.#stream({}, signal)
  }

  async finish(signal: AbortSignal): Promise<void> {
    await this.#stream({ complete: true, exitcode: 0 }, signal)
  }

  async #status(name: string, signal: AbortSignal) {
    const { project, entity = null } = this.#settings
    const { model } = await this.#query<StatusAnswer>(RUN_STATUS, { project, entity, name }, signal)
    return model?.bucket ?? undefined
  }

  async #upload(path: string, body: string, signal: AbortSignal): Promise<void> {
    const { entity, project, run } = this.#place
    const asked = await this.#query<FilesAnswer>(CREATE_FILES, { entity, project, run, files: [path] }, signal)
    const { files = [], uploadHeaders = [] } = asked.createRunFiles ?? {}
    const target = files.find((file) => file.name === path)?.uploadUrl
    if (!target) throw new HttpError(422, `no address was given to upload ${path} to`)
    const pairs = uploadHeaders.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
    const headers = Object.fromEntries(pairs) as Record<string, string>
    await http(new URL(target, this.#settings.baseUrl).href, { method: 'PUT', headers, body, signal })
  }

  async #query<T>(query: string, variables: unknown, signal: AbortSignal): Promise<T> {
    const url = `${this.#settings.baseUrl}/graphql`
    const answer = (await http(url, { headers: this.#headers, body: { query, variables }, signal })) as
      | { data?: T; errors?: { message?: string }[] }
      | undefined
    const wrong = answer?.errors?.map(({ message }) => message).join('; ')
    if (wrong) throw new HttpError(422, wrong)
    if (!answer?.data) throw new HttpError(502, `${url} returned no data`)
    return answer.data
  }

  async #stream(body: unknown, signal: AbortSignal): Promise<void> {
    const { entity, project, run } = this.#place
    const path = [entity, project, run].map(encodeURIComponent).join('/')
    await http(`${this.#settings.baseUrl}/files/${path}/file_stream`, { headers: this.#headers, body, signal })
  }

  get #headers(): Record<string, string> {
    return { authorization: basicAuth('api', this.#settings.apiKey) }
  }

  #stamp({ step, time }: MetricsRow): Record<string, number> {
    return { _step: step, _timestamp: time, _runtime: Math.max(0, time - this.#begun) }
  }
}

/** As the service's own client writes it: JSON, but with NaN and Infinity as numbers. */
function lineOf(values: Readonly<Record<string, number>>): string {
  return `{${Object.entries(values)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')}}`
}
