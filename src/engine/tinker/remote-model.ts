import { z } from 'zod'
import { HttpError } from '../../base/http/error.js'
import type { AdamStep } from '../contract.js'
import { badAnswer } from './failure.js'
import type { Submitted, TinkerSession } from './session.js'
import { type Datum, decodeForwardBackward, encodeForwardBackward } from './wire/forward-backward.js'

/** The adapter that is trained, in the words of `model.tinker`. */
export interface AdapterSpec {
  readonly baseModel: string
  readonly rank: number
  readonly seed?: number
  readonly mlp: boolean
  readonly attention: boolean
  readonly unembed: boolean
}

/** Datums, and bytes of them, that one request may carry. */
const MOST_DATUMS = 1024
const MOST_BYTES = 5_000_000
/** How often a name may be taken already. */
const SAVES = 3

const created = z.looseObject({
  model_id: z.string().min(1),
  lora_config: z
    .looseObject({ train_unembed: z.boolean(), train_mlp: z.boolean(), train_attn: z.boolean() })
    .partial()
    .optional(),
})
const stepped = z.looseObject({ metrics: z.record(z.string(), z.number()).nullish() })
const saved = z.looseObject({ path: z.string().regex(/^tinker:\/\/[^/]+\/.+$/) })

/** An adapter at the service. Requests are numbered; the service carries them out in that order. */
export class RemoteModel {
  readonly id: string
  /** What the service trains otherwise than it was asked to. */
  readonly deviations: readonly string[]
  readonly #session: TinkerSession
  #seq = 0
  /** One after the other: each must have its number before the next. */
  #handing: Promise<unknown> = Promise.resolve()

  private constructor(session: TinkerSession, id: string, deviations: readonly string[]) {
    this.#session = session
    this.id = id
    this.deviations = deviations
  }

  static async create(session: TinkerSession, spec: AdapterSpec, signal: AbortSignal): Promise<RemoteModel> {
    const flags = { train_unembed: spec.unembed, train_mlp: spec.mlp, train_attn: spec.attention }
    const body = {
      session_id: session.id,
      model_seq_id: session.nextModel(),
      base_model: spec.baseModel,
      lora_config: { rank: spec.rank, ...(spec.seed !== undefined && { seed: spec.seed }), ...flags },
      type: 'create_model',
    }
    const request = await session.submit('create_model', 'CreateModel', body, { signal })
    const { model_id, lora_config = {} } = await request.json(created, signal)
    const other = Object.entries(flags).filter(([flag, asked]) => (lora_config[flag] ?? asked) !== asked)
    return new RemoteModel(
      session,
      model_id,
      other.map(([flag, asked]) => `model.tinker.${flag} ${asked}: the service trains with ${!asked}`),
    )
  }

  /** Log-probs of the targets; no gradient. */
  async forward(data: readonly Datum[], signal: AbortSignal): Promise<Float32Array[]> {
    return (await this.submitPass(data, 'cross_entropy', true, signal))(signal)
  }

  /** Hands a pass over, in as many requests as it needs; gives what waits for its log-probs. */
  async submitPass(
    data: readonly Datum[],
    lossFn: string,
    forwardOnly: boolean,
    signal: AbortSignal,
  ): Promise<(signal: AbortSignal) => Promise<Float32Array[]>> {
    const requests: { part: readonly Datum[]; request: Submitted }[] = []
    for (const part of parts(data)) {
      const request = await this.#submit('forward_backward', 'ForwardBackward', signal, (seqId) =>
        encodeForwardBackward({ modelId: this.id, seqId, data: part, lossFn, forwardOnly }),
      )
      requests.push({ part, request })
    }
    return async (until) => {
      const all: Float32Array[] = []
      for (const { part, request } of requests) all.push(...logprobsOf(part, (await request.result(until)).bytes))
      return all
    }
  }

  /** Hands a step of AdamW over; gives what waits for the numbers that the service reports of it. */
  async submitStep(
    step: AdamStep,
    signal: AbortSignal,
  ): Promise<(signal: AbortSignal) => Promise<Readonly<Record<string, number>>>> {
    const adam = {
      learning_rate: step.lr,
      beta1: step.betas[0],
      beta2: step.betas[1],
      eps: step.eps,
      weight_decay: step.weightDecay,
      grad_clip_norm: step.gradClip,
    }
    const request = await this.#submit('optim_step', 'OptimStep', signal, (seq_id) => ({
      adam_params: adam,
      model_id: this.id,
      seq_id,
      type: 'optim_step',
    }))
    return async (until) => (await request.json(stepped, until)).metrics ?? {}
  }

  /** Weights and the state of the optimizer; gives their address. */
  saveState(name: string, signal: AbortSignal): Promise<string> {
    return this.#save('save_weights', 'SaveWeights', name, signal)
  }

  /** The weights alone, to sample from; gives their address. */
  saveForSampler(name: string, signal: AbortSignal): Promise<string> {
    return this.#save('save_weights_for_sampler', 'SaveWeightsForSampler', name, signal)
  }

  /** Services allow this only as the first request of a model. */
  async loadState(path: string, signal: AbortSignal): Promise<void> {
    const request = await this.#submit('load_weights', 'LoadWeights', signal, (seq_id) => ({
      model_id: this.id,
      seq_id,
      path,
      optimizer: true,
      type: 'load_weights',
    }))
    await request.result(signal)
  }

  /** Frees its place at the service. A service that cannot be reached frees it by itself. */
  async unload(): Promise<void> {
    const signal = AbortSignal.timeout(30_000)
    const body = { model_id: this.id, type: 'unload_model' }
    await this.#session
      .submit('unload_model', 'UnloadModel', body, { signal, retries: 0 })
      .then((request) => request.result(signal))
      .catch(() => {})
  }

  /** Under another name where there is one of that name: then an answer was lost, and the first save is of no use. */
  async #save(route: string, kind: string, name: string, signal: AbortSignal, again = 0): Promise<string> {
    const path = again === 0 ? name : `${name}-${again}`
    const more = route === 'save_weights' ? { overwrite: false } : {}
    const body = (seq_id: number) => ({ model_id: this.id, path, seq_id, ...more, type: route })
    try {
      return (await (await this.#submit(route, kind, signal, body)).json(saved, signal)).path
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409) || again === SAVES) throw error
      return this.#save(route, kind, name, signal, again + 1)
    }
  }

  /** A number is used up when the service has the request: one that did not arrive leaves no gap. */
  async #submit(
    route: string,
    kind: string,
    signal: AbortSignal,
    body: (seq: number) => Uint8Array | Record<string, unknown>,
  ): Promise<Submitted> {
    const before = this.#handing
    const handing = (async () => {
      await before.catch(() => {})
      const request = await this.#session.submit(route, kind, body(this.#seq + 1), { signal })
      this.#seq++
      return request
    })()
    this.#handing = handing
    return handing
  }
}

/** In order, each small enough for one request. */
function* parts(data: readonly Datum[]): Generator<Datum[], void, undefined> {
  let part: Datum[] = []
  let bytes = 0
  for (const datum of data) {
    const size = datum.tokens.length * (12 + 4 * Object.keys(datum.inputs).length) + 100
    if (part.length > 0 && (part.length === MOST_DATUMS || bytes + size > MOST_BYTES)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(datum)
    bytes += size
  }
  if (part.length > 0) yield part
}

function logprobsOf(data: readonly Datum[], bytes: Uint8Array | undefined): readonly Float32Array[] {
  if (!bytes) throw badAnswer('the result of forward_backward is not in protobuf')
  const { logprobs } = decodeForwardBackward(bytes)
  if (logprobs.length !== data.length) throw badAnswer(`${logprobs.length} rows of log-probs for ${data.length} datums`)
  const wrong = data.findIndex(({ tokens }, i) => tokens.length !== logprobs[i].length)
  if (wrong < 0) return logprobs
  throw badAnswer(`${logprobs[wrong].length} log-probs for ${data[wrong].tokens.length} tokens`)
}
