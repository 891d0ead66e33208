import { HttpError } from '../../base/http/error.js'
import type { HttpService } from '../../base/http/service.js'
import type { Caps, InFlight, OnToken } from '../contract.js'
import { meaningOf } from '../served/meaning.js'
import type {
  CallLimits,
  ServedRequest,
  ServedSample,
  ServerApi,
  ServerFacts,
  ServerGroup,
} from '../served/server-api.js'
import { LONGEST_MS, serverHttp } from '../served/server-http.js'
import { Choices } from './choices.js'
import { anything, generated, modelsAnswer, promptScores, rpcAnswer, serverInfo, versionAnswer } from './wire.js'

const AGAIN = 2
/** Likeliest tokens that are enough to tell what log-probs mean. */
const PROBED = 5
const GENERATE = '/inference/v1/generate'
/** Trinity's own class in the workers of a server that it has started. */
export const WORKER_CLASS = 'trinity_served.vllm_worker.TrinityWorker'
/** What requests are called by the server. */
const ID_PREFIX = 'generate-tokens-'

const MODES: Readonly<Record<InFlight, string>> = { finish: 'wait', continue: 'keep', abort: 'abort' }

/** The routes of a vLLM server. */
export class VllmApi implements ServerApi {
  readonly #http: HttpService
  #model = ''
  #extended = false

  constructor(baseUrl: string, key?: string) {
    this.#http = serverHttp('the vLLM server', 'vllm', baseUrl, key)
  }

  get url(): string {
    return this.#http.url
  }

  async about(limits: CallLimits): Promise<ServerFacts> {
    const { version } = await this.#http.json('GET', '/version', undefined, versionAnswer, limits)
    const { data } = await this.#http.json('GET', '/v1/models', undefined, modelsAnswer, limits)
    const [model] = data.filter(({ parent }) => !parent)
    this.#model = model.id
    const logprobs = await this.#named(GENERATE, version, () => this.#meaning(limits))
    const extended = await this.#isOurs(limits)
    this.#extended = extended
    const maxModelLen = model.max_model_len ?? Number.MAX_SAFE_INTEGER
    return { version, maxModelLen, logprobs, scoresAnyTemperature: extended, extended }
  }

  /** Whether its workers have our class. Without the routes of developers nobody knows, and nobody needs to. */
  async #isOurs(limits: CallLimits): Promise<boolean> {
    const route = '/server_info?config_format=json'
    const info = await this.#http.json('GET', route, undefined, serverInfo, limits).catch(() => undefined)
    return info?.vllm_config.parallel_config.worker_extension_cls === WORKER_CLASS
  }

  async health(limits: CallLimits): Promise<void> {
    await this.#http.send('GET', '/health', undefined, limits)
  }

  async generate(request: ServedRequest, limits: CallLimits, onToken?: OnToken): Promise<ServedSample[]> {
    const choices = new Choices(request)
    const within = { deadlineMs: LONGEST_MS, ...limits }
    if (!onToken) {
      const answer = await this.#http.json('POST', GENERATE, this.#body(request), generated, within)
      choices.add(answer)
      return choices.samples(request.promptLogprobs ? withFirst(request.prompt, answer) : undefined)
    }
    const body = { ...this.#body(request), stream: true, stream_options: { include_usage: true } }
    let prompt: Float32Array | undefined
    try {
      for await (const data of this.#http.events(GENERATE, body, within)) {
        if (data === '[DONE]') break
        const piece = generated.parse(JSON.parse(data))
        if (piece.prompt_logprobs) prompt = withFirst(request.prompt, piece)
        for (const { index, token, logprob } of choices.add(piece)) onToken(index, token, logprob)
        // what has come and was not read is given up as well
        if (limits.signal?.aborted) break
      }
    } catch (error) {
      // who gives a stream up has what came; the server notices and stops
      if (!limits.signal?.aborted) throw error
    }
    return choices.samples(prompt)
  }

  async abort(id: string): Promise<void> {
    await this.#http.json('POST', '/abort_requests', { request_ids: [ID_PREFIX + id] }, anything)
  }

  async score(tokens: Int32Array, temperature: number, limits: CallLimits): Promise<Float32Array> {
    const sampling_params = { max_tokens: 1, temperature, prompt_logprobs: 0, detokenize: false }
    const body = { model: this.#model, token_ids: [...tokens], sampling_params }
    return promptScores(tokens, await this.#http.json('POST', GENERATE, body, generated, limits))
  }

  async pause(inFlight: InFlight, limits: CallLimits): Promise<void> {
    await this.#control(`/pause?mode=${MODES[inFlight]}&clear_cache=false`, undefined, limits)
  }

  async resume(): Promise<void> {
    await this.#control('/resume')
  }

  async reload(dir: string, version: string, limits: CallLimits): Promise<void> {
    if (this.#extended) await this.#rpc('trinity_reload', { path: dir }, limits)
    else await this.#rpc('reload_weights', { weights_path: dir }, limits)
    await this.#renew(version, limits)
  }

  readonly group: ServerGroup = {
    join: async (group, rank, limits) => {
      const { port, size, seconds } = group
      await this.#rpc('trinity_join', textOf({ port, rank, size, seconds }), limits)
    },
    receive: async (path, dtype, limits) => String((await this.#rpc('trinity_receive', { path, dtype }, limits))[0]),
    install: async (version) => {
      await this.#rpc('trinity_install', {}, {})
      await this.#renew(version, {})
    },
    save: async (path, limits) => void (await this.#rpc('trinity_save', { path }, limits)),
  }

  close(): void {
    this.#http.close()
  }

  #body({ id, prompt, n, wish, seed, stop, promptLogprobs, adapter }: ServedRequest) {
    return {
      request_id: id,
      model: adapter ?? this.#model,
      token_ids: [...prompt],
      sampling_params: {
        n,
        temperature: wish.greedy ? 0 : 1 / wish.invT,
        ...(wish.topK > 0 && { top_k: wish.topK }),
        top_p: wish.topP,
        min_p: wish.minP,
        repetition_penalty: wish.penalty,
        presence_penalty: wish.presence,
        frequency_penalty: wish.frequency,
        ...(wish.biased.length > 0 && {
          logit_bias: Object.fromEntries(wish.biased.map((token, i) => [token, wish.bias[i]])),
        }),
        max_tokens: wish.maxTokens,
        min_tokens: wish.minTokens,
        // which tokens end an answer is said by the model's directory, as for every engine
        ignore_eos: true,
        stop_token_ids: [...new Set([...wish.ends, ...wish.stopIds])],
        stop,
        seed,
        logprobs: wish.top,
        ...(promptLogprobs && { prompt_logprobs: 0 }),
        detokenize: stop.length > 0,
      },
    }
  }

  /** New weights: what was computed with older ones is dropped, and tokens are told under the new name. */
  async #renew(version: string, limits: CallLimits): Promise<void> {
    await this.#control('/reset_prefix_cache', undefined, limits)
    await this.#control('/update_weight_version', { new_version: version }, limits)
  }

  async #control(route: string, body?: unknown, limits: CallLimits = {}): Promise<void> {
    // each of them may be repeated; a server drops connections on which something failed before
    await this.#named(route, undefined, () => this.#http.send('POST', route, body, { retries: AGAIN, ...limits }))
  }

  async #rpc(method: string, kwargs: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown[]> {
    const { deadlineMs = LONGEST_MS } = limits
    const body = { method, kwargs, timeout: deadlineMs / 1000 }
    const route = '/collective_rpc'
    const { results } = await this.#named(route, undefined, () =>
      this.#http.json('POST', route, body, rpcAnswer, { ...limits, deadlineMs }),
    )
    return results
  }

  /** What log-probs mean here, from the likeliest tokens of one prompt with and without temperature and truncation. */
  async #meaning(limits: CallLimits): Promise<Caps['logprobs']> {
    const gap = async (params: object) => {
      const sampling_params = { max_tokens: 1, logprobs: PROBED, detokenize: false, ...params }
      const body = { model: this.#model, token_ids: [1], sampling_params }
      const { choices } = await this.#http.json('POST', GENERATE, body, generated, limits)
      const values = choices[0].logprobs?.content?.[0]?.top_logprobs.map(({ logprob }) => logprob) ?? []
      return Math.max(...values) - Math.min(...values)
    }
    // both draw the likeliest token: any other would be told among these
    return meaningOf(await gap({ temperature: 0 }), await gap({ temperature: 0.5, top_k: 1 }))
  }

  /** A route that is not there, or closed, gets an error that says how to open it. */
  async #named<T>(route: string, version: string | undefined, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      const closed = error instanceof HttpError && [403, 404, 405].includes(error.status ?? 0)
      // a folder or a model that the server does not find is told with the same status as a route
      if (!closed || !/not found|disabled/i.test(error.said) || /adapter|lora/i.test(error.said)) throw error
      const [path] = route.split('?')
      throw new HttpError('vllm/no-route', `the vLLM server${version ? ` (${version})` : ''} does not offer ${path}`, {
        path: this.url,
        hint: `start it with ${opens(path)}; versions before 0.28 may lack the route`,
        status: error.status,
        said: error.said,
      })
    }
  }
}

function opens(route: string): string {
  if (route === GENERATE) return '--enable-scale-out'
  return 'VLLM_SERVER_DEV_MODE=1'
}

/** The first token is predicted by nothing. */
function withFirst(prompt: Int32Array, answer: Parameters<typeof promptScores>[1]): Float32Array {
  return Float32Array.of(Number.NaN, ...promptScores(prompt, answer))
}

/** Servers take text alone. */
function textOf(values: Readonly<Record<string, number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
}
