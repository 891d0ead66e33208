/** A service of the Tinker API over bigrams, for tests: exact, fast, and as troublesome as it is told to be. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Bigram } from '../mock/bigram.js'
import { floatBytes, floatsOf, int32Bytes, int32sOf, int64Bytes, int64sOf } from './wire/numbers.js'
import { ProtoWriter, protoFields } from './wire/proto.js'

export const VOCAB = 12

export interface FakeOptions {
  /** Means over tokens and sequences in place of sums, as SkyRL's JAX back end has it. */
  readonly means?: boolean
  readonly clips?: boolean
  readonly reports?: boolean
}

/** `lose`: it is done, and the answer is lost. `again`: the result is not there yet. A number: this status. */
export type Trouble = 'lose' | 'again' | number | { readonly json: unknown } | { readonly bytes: Uint8Array }

interface Model {
  readonly bigram: Bigram
  requests: Map<number, { body: string; id: string }>
  data: number
}

interface Result {
  readonly json?: unknown
  readonly bytes?: Uint8Array
}

export class FakeService {
  /** What happens to the next requests of a route, one each. */
  readonly troubles = new Map<string, Trouble[]>()
  readonly seen: string[] = []
  readonly keys = new Set<string | undefined>()
  readonly deleted: string[] = []
  readonly models = new Map<string, Model>()
  readonly states = new Map<string, ReturnType<Bigram['toJSON']>>()
  readonly #results = new Map<string, Result>()
  readonly #samplers = new Map<string, string | undefined>()
  readonly #server: Server
  readonly #options: FakeOptions
  #next = 1
  url = ''

  constructor(options: FakeOptions = {}) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#hear(request, response))
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The model that was made last. */
  get newest(): Bigram {
    return [...this.models.values()].at(-1)!.bigram
  }

  async #hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const route = (request.url ?? '').replace('/api/v1/', '')
    this.seen.push(route)
    this.keys.add(request.headers['x-api-key'] as string | undefined)
    const trouble = this.troubles.get(route)?.shift()
    if (typeof trouble === 'number') return answer(response, trouble, { json: { detail: 'told to fail' } })
    if (trouble === 'again') return answer(response, 200, { json: { type: 'try_again', request_id: '0' } })
    if (typeof trouble === 'object') return answer(response, 200, trouble)
    const [status, result] = this.#do(request.method ?? '', route, body)
    if (trouble === 'lose') return void response.destroy()
    answer(response, status, result)
  }

  #do(method: string, route: string, body: Buffer): [status: number, Result] {
    if (method === 'DELETE') {
      this.deleted.push(decodeURIComponent(route))
      return [204, {}]
    }
    if (route === 'forward_backward') return this.#pass(body)
    const json = body.length > 0 ? JSON.parse(body.toString()) : {}
    switch (route) {
      case 'client/config':
        return [200, { json: {} }]
      case 'create_session':
        return [200, { json: { session_id: 's1' } }]
      case 'get_server_capabilities':
        return [200, { json: { supported_models: [{ model_name: 'bigram' }] } }]
      case 'create_model':
        return this.#create()
      case 'retrieve_future': {
        const result = this.#results.get(json.request_id)
        return result ? [200, result] : [404, { json: { detail: 'no such request' } }]
      }
      case 'optim_step':
        return this.#ordered(json, body, (model) => this.#step(model, json.adam_params))
      case 'save_weights':
      case 'save_weights_for_sampler':
        return this.#ordered(json, body, (model) => {
          const path = `tinker://${json.model_id}/${route.endsWith('sampler') ? 'sampler_weights' : 'weights'}/${json.path}`
          this.states.set(path, structuredClone(model.bigram.toJSON()))
          return { json: { path } }
        })
      case 'load_weights':
        return this.#load(json, body)
      case 'create_sampling_session': {
        const id = `sampling${this.#next++}`
        this.#samplers.set(id, json.model_path)
        return [200, { json: { sampling_session_id: id } }]
      }
      case 'asample':
        return this.#future(this.#sample(json))
      default:
        return this.#future({ json: {} })
    }
  }

  #future(result: Result): [number, Result] {
    const id = String(this.#next++)
    this.#results.set(id, result)
    return [200, { json: { request_id: id } }]
  }

  #create(): [number, Result] {
    const id = `model${this.#next++}`
    const bigram = new Bigram(VOCAB)
    bigram.weights.forEach((_, i) => {
      bigram.weights[i] = Math.sin(i * 1.7)
    })
    this.models.set(id, { bigram, requests: new Map(), data: 0 })
    return this.#future({ json: { model_id: id } })
  }

  #ordered(json: { model_id: string; seq_id: number }, body: Buffer, work: (model: Model) => Result): [number, Result] {
    const model = this.models.get(json.model_id)
    if (!model) return [404, { json: { detail: 'no such model' } }]
    const known = model.requests.get(json.seq_id)
    const text = body.toString('hex')
    if (known) return known.body === text ? [200, { json: { request_id: known.id } }] : [409, { json: {} }]
    const [status, result] = this.#future(work(model))
    model.requests.set(json.seq_id, { body: text, id: (result.json as { request_id: string }).request_id })
    return [status, result]
  }

  #load(json: { model_id: string; seq_id: number; path: string }, body: Buffer): [number, Result] {
    const state = this.states.get(json.path)
    if (!state) return [404, { json: { detail: 'no such checkpoint' } }]
    if (this.models.get(json.model_id)!.requests.size > 0) return [400, { json: { detail: 'not the first request' } }]
    return this.#ordered(json, body, ({ bigram }) => {
      bigram.restore(state)
      return { json: { path: json.path } }
    })
  }

  #step(model: Model, adam: Record<string, number>): Result {
    if (this.#options.means) scale(model.bigram, 1 / Math.max(1, model.data))
    model.data = 0
    const { gradNorm } = model.bigram.adam({
      lr: adam.learning_rate,
      betas: [adam.beta1, adam.beta2],
      eps: adam.eps,
      weightDecay: adam.weight_decay,
      gradClip: this.#options.clips === false ? 0 : adam.grad_clip_norm,
    })
    return { json: { metrics: this.#options.reports === false ? {} : { 'fake/grad_norm': gradNorm } } }
  }

  #pass(body: Buffer): [number, Result] {
    const { modelId, seqId, data, lossFn, forwardOnly } = requestOf(body)
    return this.#ordered({ model_id: modelId, seq_id: seqId }, body, (model) => {
      const rows = data.map(({ tokens, targets, inputs }) => {
        const all = Array.from(tokens, (token) => model.bigram.logprobs(token, 1))
        const logprobs = Float32Array.from(targets, (target, i) => all[i][target])
        if (forwardOnly) return logprobs
        model.data++
        const weights = inputs.weights ?? new Float32Array(tokens.length).fill(1)
        const total = this.#options.means
          ? Math.max(
              1e-9,
              weights.reduce((a, b) => a + b),
            )
          : 1
        targets.forEach((token, i) => {
          const pull =
            lossFn === 'cross_entropy'
              ? -weights[i]
              : -weights[i] * inputs.advantages[i] * Math.exp(logprobs[i] - inputs.logprobs[i])
          model.bigram.backward(tokens[i], 1, {
            logprobs: [{ token, pull: pull / total }],
            entropy: 0,
            squares: 0,
            value: 0,
          })
        })
        return logprobs
      })
      return { bytes: outputOf(rows) }
    })
  }

  #sample(json: Record<string, never> & { prompt: { chunks: { tokens: number[] }[] } }): Result {
    const asked = json as unknown as {
      num_samples: number
      sampling_session_id: string
      sampling_params: { max_tokens: number }
    }
    const path = this.#samplers.get(asked.sampling_session_id)
    const bigram = new Bigram(VOCAB)
    if (path) bigram.restore(this.states.get(path)!)
    const prompt = json.prompt.chunks[0].tokens
    const message = new ProtoWriter()
    for (let n = 0; n < asked.num_samples; n++) {
      const tokens = Array.from({ length: asked.sampling_params.max_tokens }, (_, i) => (n + i) % VOCAB)
      const logprobs = tokens.map((token, i) => bigram.logprobs(i === 0 ? prompt.at(-1)! : tokens[i - 1], 1)[token])
      message.message(1, new ProtoWriter().int(1, 1).bytes(2, int32Bytes(tokens)).bytes(3, floatBytes(logprobs)))
    }
    const scores = prompt.slice(1).map((token, i) => bigram.logprobs(prompt[i], 1)[token])
    return { bytes: message.bytes(2, floatBytes(scores)).finish() }
  }
}

function scale(bigram: Bigram, by: number): void {
  const gradient = bigram.gradient as Float64Array
  gradient.forEach((x, i) => {
    gradient[i] = x * by
  })
}

function answer(response: ServerResponse, status: number, { json, bytes }: Result): void {
  const type = bytes ? 'application/x-protobuf' : 'application/json'
  response.writeHead(status, { 'content-type': type }).end(bytes ?? (json === undefined ? '' : JSON.stringify(json)))
}

function requestOf(bytes: Uint8Array) {
  const request = { modelId: '', seqId: 0, lossFn: '', forwardOnly: false, data: [] as ReturnType<typeof datumOf>[] }
  for (const { field, number, bytes: value } of protoFields(bytes)) {
    if (field === 1) request.modelId = Buffer.from(value).toString()
    else if (field === 2) request.seqId = number
    else if (field === 3) request.data.push(datumOf(value))
    else if (field === 4) request.lossFn = Buffer.from(value).toString()
    else if (field === 6) request.forwardOnly = number === 1
  }
  return request
}

function datumOf(bytes: Uint8Array) {
  let tokens: Int32Array = new Int32Array(0)
  let targets: number[] = []
  const inputs: Record<string, Float32Array> = {}
  for (const { field, bytes: value } of protoFields(bytes)) {
    if (field === 1) tokens = int32sOf(only(only(value, 1), 1))
    else if (field === 2) {
      const name = Buffer.from(only(value, 1)).toString()
      const data = only(only(value, 2), 1)
      if (name === 'target_tokens') targets = int64sOf(data)
      else inputs[name] = floatsOf(data)
    }
  }
  return { tokens, targets, inputs }
}

function only(bytes: Uint8Array, wanted: number): Uint8Array {
  for (const { field, bytes: value } of protoFields(bytes)) if (field === wanted) return value
  return new Uint8Array(0)
}

function outputOf(rows: readonly Float32Array[]): Uint8Array {
  let at = 0
  const offsets = [0, ...rows.map((row) => (at += row.length * 4))]
  const data = Buffer.concat(rows.map((row) => floatBytes(row)))
  const tensor = new ProtoWriter().bytes(1, data).bytes(2, int64Bytes(offsets)).int(3, 1)
  const record = new ProtoWriter().entry(2, 'logprobs', (entry) => entry.message(2, tensor)).int(3, rows.length)
  return new ProtoWriter().text(1, 'scalar').message(2, record).finish()
}
