import { TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/error.js'
import type { HttpService } from '../../base/http/service.js'
import type { Caps, InFlight, OnToken } from '../contract.js'
import { meaningOf } from '../served/meaning.js'
import type { CallLimits, ServedRequest, ServedSample, ServerApi, ServerFacts } from '../served/server-api.js'
import { LONGEST_MS, serverHttp } from '../served/server-http.js'
import { promptScores, sampleOf } from './samples.js'
import { type Answer, answer, answers, modelInfo, serverInfo, updated } from './wire.js'

const PROBED = 5
const GENERATE = '/generate'

/** `retract` gives up what was computed of requests in flight: with other weights it is computed anew. */
const MODES: Readonly<Record<InFlight, string>> = { finish: 'retract', continue: 'retract', abort: 'abort' }

/** The routes of an SGLang server. */
export class SglangApi implements ServerApi {
  readonly #http: HttpService

  constructor(baseUrl: string, key?: string) {
    this.#http = serverHttp('the SGLang server', 'sglang', baseUrl, key)
  }

  get url(): string {
    return this.#http.url
  }

  async about(limits: CallLimits): Promise<ServerFacts> {
    await this.#named('/model_info', () => this.#http.json('GET', '/model_info', undefined, modelInfo, limits))
    const info = await this.#named('/server_info', () =>
      this.#http.json('GET', '/server_info', undefined, serverInfo, limits),
    )
    return {
      version: info.version ?? 'unknown',
      maxModelLen: info.context_length ?? info.max_req_input_len ?? Number.MAX_SAFE_INTEGER,
      logprobs: await this.#meaning(limits),
      // prompts are scored before the temperature
      scoresAnyTemperature: false,
      extended: false,
    }
  }

  async health(limits: CallLimits): Promise<void> {
    await this.#http.send('GET', '/health', undefined, limits)
  }

  async generate(request: ServedRequest, limits: CallLimits, onToken?: OnToken): Promise<ServedSample[]> {
    needPlain(request)
    const within = { deadlineMs: LONGEST_MS, ...limits }
    const found: (Answer | undefined)[] = Array.from({ length: request.n })
    if (!onToken) {
      const all = await this.#http.json('POST', GENERATE, bodyOf(request), answers, within)
      return all.map((one) => sampleOf(request, one))
    }
    const seen = new Array<number>(request.n).fill(0)
    try {
      for await (const data of this.#http.events(GENERATE, { ...bodyOf(request), stream: true }, within)) {
        if (data === '[DONE]') break
        const piece = answer.parse(JSON.parse(data))
        const index = piece.index ?? 0
        found[index] = piece
        for (; seen[index] < piece.output_ids.length; seen[index]++) {
          const i = seen[index]
          onToken(index, piece.output_ids[i], piece.meta_info.output_token_logprobs?.[i]?.[0] ?? Number.NaN)
        }
        // what has come and was not read is given up as well
        if (limits.signal?.aborted) break
      }
    } catch (error) {
      if (!limits.signal?.aborted) throw error
    }
    return found.map((one) => sampleOf(request, one ?? NOTHING))
  }

  async abort(id: string): Promise<void> {
    // a request of several samples has a name for each
    await this.#http.send('POST', '/abort_request', { rid: id })
  }

  async score(tokens: Int32Array, _temperature: number, limits: CallLimits): Promise<Float32Array> {
    const body = {
      input_ids: [...tokens],
      sampling_params: { max_new_tokens: 1, temperature: 0 },
      return_logprob: true,
      logprob_start_len: 0,
    }
    const [one] = await this.#http.json('POST', GENERATE, body, answers, limits)
    return promptScores(one.meta_info).slice(1)
  }

  async pause(inFlight: InFlight, limits: CallLimits): Promise<void> {
    await this.#control('/pause_generation', { mode: MODES[inFlight] }, limits)
  }

  async resume(): Promise<void> {
    await this.#control('/continue_generation', {})
  }

  async reload(dir: string, version: string, limits: CallLimits): Promise<void> {
    const body = { model_path: dir, weight_version: version, flush_cache: true }
    const route = '/update_weights_from_disk'
    const { success, message } = await this.#named(route, () =>
      this.#http.json('POST', route, body, updated, { deadlineMs: LONGEST_MS, ...limits }),
    )
    if (!success) throw new TrinityError('sglang/weights', `the server did not take ${dir}: ${message}`, { path: dir })
  }

  close(): void {
    this.#http.close()
  }

  async #control(route: string, body: unknown, limits: CallLimits = {}): Promise<void> {
    await this.#named(route, () => this.#http.send('POST', route, body, limits))
  }

  /** What log-probs mean here, from the likeliest tokens of one prompt with and without temperature and truncation. */
  async #meaning(limits: CallLimits): Promise<Caps['logprobs']> {
    const gap = async (params: object) => {
      const body = {
        input_ids: [1],
        sampling_params: { max_new_tokens: 1, ...params },
        return_logprob: true,
        top_logprobs_num: PROBED,
      }
      const [one] = await this.#http.json('POST', GENERATE, body, answers, limits)
      const values = one.meta_info.output_top_logprobs?.[0]?.map(([logprob]) => logprob ?? Number.NaN) ?? []
      return Math.max(...values) - Math.min(...values)
    }
    return meaningOf(await gap({ temperature: 0 }), await gap({ temperature: 0.5, top_k: 1 }))
  }

  /** A route that is not there gets an error that says which. */
  async #named<T>(route: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error
      throw new HttpError('sglang/no-route', `the SGLang server does not offer ${route}`, {
        path: this.url,
        hint: 'use SGLang 0.5.23 or newer',
        status: error.status,
        said: error.said,
      })
    }
  }
}

const NOTHING: Answer = { output_ids: [], meta_info: { finish_reason: null } }

/** Each sample is a request of its own with a seed of its own; they share the cache of their prompt. */
function bodyOf({ id, prompt, n, wish, seed, stop, promptLogprobs }: ServedRequest) {
  const params = {
    temperature: wish.greedy ? 0 : 1 / wish.invT,
    top_k: wish.topK > 0 ? wish.topK : -1,
    top_p: wish.topP,
    min_p: wish.minP,
    max_new_tokens: wish.maxTokens,
    min_new_tokens: wish.minTokens,
    // which tokens end an answer is said by the model's directory, as for every engine
    ignore_eos: true,
    stop_token_ids: [...new Set([...wish.ends, ...wish.stopIds])],
    stop: [...stop],
    no_stop_trim: true,
  }
  const of = <T>(make: (i: number) => T): T | T[] => (n === 1 ? make(0) : Array.from({ length: n }, (_, i) => make(i)))
  return {
    rid: of((i) => (n === 1 ? id : `${id}-${i}`)),
    input_ids: of(() => [...prompt]),
    sampling_params: of((i) => ({ ...params, sampling_seed: (seed + i) % 2 ** 31 })),
    return_logprob: true,
    logprob_start_len: promptLogprobs ? 0 : -1,
    top_logprobs_num: wish.top,
  }
}

/** Penalties and bias are part of what SGLang calls the model's log-probs. */
function needPlain({ wish }: ServedRequest): void {
  if (wish.penalty === 1 && wish.presence === 0 && wish.frequency === 0 && wish.biased.length === 0) return
  throw new TrinityError(
    'engine/logprobs',
    'SGLang tells log-probs after penalties and bias: training would go wrong',
    {
      hint: 'use neither with engine_type sglang',
    },
  )
}
