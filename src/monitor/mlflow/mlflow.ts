import { numberOut } from '../../experience/fields.js'
import type { MetricsRow } from '../metrics-file.js'
import { fileName } from '../names.js'
import { basicAuth, HttpError, type HttpRequest, http } from '../remote/http.js'
import type { Remote, RemoteTable } from '../remote/remote.js'
import { tableJson } from '../remote/table-json.js'

export interface MlflowSettings {
  readonly uri: string
  readonly username?: string
  readonly password?: string
  readonly experiment: string
  readonly name: string
  readonly group: string
  readonly role: string
  /** Flattened configuration. */
  readonly params: readonly (readonly [string, string])[]
}

interface Experiment {
  experiment?: { experiment_id?: string }
  experiment_id?: string
}
interface Run {
  run?: { info?: { run_id?: string; artifact_uri?: string; experiment_id?: string; lifecycle_stage?: string } }
}

/** Limits of one request, and of a parameter. */
const METRICS_AT_ONCE = 500
const PARAMS_AT_ONCE = 100
const LONGEST_NAME = 250
const LONGEST_PARAM = 500

/** A run of MLflow, over its REST interface. */
export class MlflowRun implements Remote {
  readonly wantsWholeSteps = false
  readonly #settings: MlflowSettings
  #run = ''
  #artifacts = ''

  constructor(settings: MlflowSettings) {
    this.#settings = settings
  }

  async open(known: string | undefined, signal: AbortSignal): Promise<{ run: string; url?: string }> {
    const info = (known === undefined ? undefined : await this.#again(known, signal)) ?? (await this.#create(signal))
    this.#run = info.run_id as string
    this.#artifacts = info.artifact_uri ?? ''
    const { uri } = this.#settings
    return { run: this.#run, url: `${uri}/#/experiments/${info.experiment_id}/runs/${this.#run}` }
  }

  async send(rows: readonly MetricsRow[], signal: AbortSignal): Promise<void> {
    const metrics = rows.flatMap(({ step, time, metrics: numbers }) =>
      Object.entries(numbers).map(([name, value]) => ({
        key: metricName(name),
        value: numberOut(value),
        timestamp: Math.round(time * 1000),
        step,
      })),
    )
    for (let at = 0; at < metrics.length; at += METRICS_AT_ONCE) {
      const body = { run_id: this.#run, metrics: metrics.slice(at, at + METRICS_AT_ONCE) }
      await this.#call('runs/log-batch', { body, signal })
    }
  }

  /** `<table>/step_<n>.json` of the run, where the server keeps artifacts itself. */
  async sendTable({ name, rows, step }: RemoteTable, signal: AbortSignal): Promise<void> {
    const scheme = 'mlflow-artifacts:'
    if (!this.#artifacts.startsWith(scheme)) {
      throw new HttpError(422, `the server does not accept artifacts (they belong in ${this.#artifacts})`)
    }
    const root = this.#artifacts.slice(scheme.length).replace(/^\/+/, '')
    const url = `${this.#settings.uri}/api/2.0/mlflow-artifacts/artifacts/${root}/${fileName(name)}/step_${step}.json`
    await http(url, { method: 'PUT', headers: this.#headers, body: tableJson(rows), signal })
  }

  async finish(signal: AbortSignal): Promise<void> {
    const body = { run_id: this.#run, status: 'FINISHED', end_time: Date.now() }
    await this.#call('runs/update', { body, signal })
  }

  /** The run of an earlier process; undefined if somebody has deleted it. */
  async #again(run_id: string, signal: AbortSignal) {
    try {
      const { run } = (await this.#call(`runs/get?run_id=${encodeURIComponent(run_id)}`, {
        method: 'GET',
        signal,
      })) as Run
      if (!run?.info?.run_id || run.info.lifecycle_stage === 'deleted') return undefined
      await this.#call('runs/update', { body: { run_id, status: 'RUNNING' }, signal })
      return run.info
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return undefined
      throw error
    }
  }

  async #create(signal: AbortSignal) {
    const { name, group, role, params } = this.#settings
    const tags = [
      { key: 'mlflow.runName', value: name },
      { key: 'group', value: group },
      { key: 'role', value: role },
    ]
    const experiment_id = await this.#experiment(signal)
    const body = { experiment_id, run_name: name, start_time: Date.now(), tags }
    const { run } = (await this.#call('runs/create', { body, signal })) as Run
    if (!run?.info?.run_id) throw new HttpError(422, 'the answer to runs/create has no run')
    const shown = params.map(([key, value]) => ({
      key: metricName(key),
      value: value.slice(0, LONGEST_PARAM),
    }))
    for (let at = 0; at < shown.length; at += PARAMS_AT_ONCE) {
      const some = shown.slice(at, at + PARAMS_AT_ONCE)
      await this.#call('runs/log-batch', { body: { run_id: run.info.run_id, params: some }, signal })
    }
    return run.info
  }

  async #experiment(signal: AbortSignal): Promise<string> {
    const name = this.#settings.experiment
    const found = await this.#find(name, signal)
    if (found !== undefined) return found
    try {
      const made = (await this.#call('experiments/create', { body: { name }, signal })) as Experiment
      if (made.experiment_id !== undefined) return made.experiment_id
    } catch (error) {
      // the other role was faster
      if (!(error instanceof HttpError) || error.code !== 'RESOURCE_ALREADY_EXISTS') throw error
    }
    const now = await this.#find(name, signal)
    if (now !== undefined) return now
    throw new HttpError(422, `experiment '${name}' can be neither created nor found; was it deleted?`)
  }

  async #find(name: string, signal: AbortSignal): Promise<string | undefined> {
    const path = `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`
    try {
      return ((await this.#call(path, { method: 'GET', signal })) as Experiment).experiment?.experiment_id
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return undefined
      throw error
    }
  }

  #call(path: string, request: HttpRequest): Promise<unknown> {
    return http(`${this.#settings.uri}/api/2.0/mlflow/${path}`, { headers: this.#headers, ...request })
  }

  get #headers(): Record<string, string> {
    const { username, password } = this.#settings
    return username === undefined ? {} : { authorization: basicAuth(username, password ?? '') }
  }
}

/** MLflow knows letters, digits and `_-./ :` in names; `@` has a spelling of its own. */
export function metricName(name: string): string {
  const plain = name.replaceAll('@', '_at_').replace(/[^\w\-./ :]/g, '_')
  // a name is also a path: no empty, `.` or `..` parts
  const parts = plain.split('/').map((part) => (/^\.*$/.test(part) ? '_' : part))
  return parts.join('/').slice(0, LONGEST_NAME)
}
