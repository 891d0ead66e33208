import type { z } from 'zod'
import { TrinityError } from '../../base/error.js'
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
import { generateBody, namesOf } from './body.js'
import { promptScores, sampleOf } from './samples.js'
import { type Answer, answer, answers, CONTEXT_ROOM, modelInfo, serverInfo, updated } from './wire.js'

const PROBED = 5
const GENERATE = '/generate'
/** An empty list, as Python pickles it: what is sent where a call of ours needs no tensors. */
const NO_TENSORS = Buffer.from([0x80, 4, 0x5d, 0x2e]).toString('base64')
/** A flag of servers that Trinity has started: they are known by it. */
export const LOADER = 'trinity_served.sglang_hooks'

/** `retract` gives up what was computed of requests in flight: with other weights it is computed anew. */
const MODES: Readonly<Record<InFlight, string>> = { finish: 'retract', continue: 'retract', abort: 'abort' }

/** The routes of an SGLang server. */
export class SglangApi implements ServerApi {
  readonly #http: HttpService
  /** Names of samples by the id of their request, while it is under way. */
  readonly #open = new Map<string, readonly string[]>()
  #extended = false
  #ranks = 1

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
    this.#extended = info.custom_weight_loader?.includes(LOADER) ?? false
    this.#ranks = info.tp_size ?? 1
    return {
      version: info.version ?? 'unknown',
      maxModelLen: longest(info),
      logprobs: await this.#meaning(limits),
      scoresAnyTemperature: this.#extended,
      extended: this.#extended,
    }
  }

  async health(limits: CallLimits): Promise<void> {
    await this.#http.send('GET', '/health', undefined, limits)
  }

  async generate(request: ServedRequest, limits: CallLimits, onToken?: OnToken): Promise<ServedSample[]> {
    needEnds(request)
    if (!this.#extended) needPlain(request)
    this.#open.set(request.id, namesOf(request))
    try {
      const within = { deadlineMs: LONGEST_MS, ...limits }
      if (onToken) return await this.#streamed(request, within, onToken)
      const all = await this.#http.json('POST', GENERATE, generateBody(request), answers, within)
      return all.map((one) => sampleOf(request, one))
    } finally {
      this.#open.delete(request.id)
    }
  }

  /** Each piece holds all that was said so far. */
  async #streamed(request: ServedRequest, limits: CallLimits, onToken: OnToken): Promise<ServedSample[]> {
    const found: (Answer | undefined)[] = Array.from({ length: request.n })
    const seen = new Array<number>(request.n).fill(0)
    try {
      for await (const data of this.#http.events(GENERATE, { ...generateBody(request), stream: true }, limits)) {
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
      // who gives a stream up has what came; the server notices and stops
      if (!limits.signal?.aborted) throw error
    }
    return found.map((one) => sampleOf(request, one ?? NOTHING))
  }

  async abort(id: string): Promise<void> {
    const names = this.#open.get(id) ?? []
    await Promise.all(names.map((rid) => this.#http.send('POST', '/abort_request', { rid })))
  }

  async score(tokens: Int32Array, temperature: number, limits: CallLimits): Promise<Float32Array> {
    const body = {
      input_ids: [...tokens],
      sampling_params: { max_new_tokens: 0, temperature },
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
    await this.#change('/update_weights_from_disk', body, limits)
  }

  readonly group: ServerGroup = {
    join: async (group, rank, limits) => void (await this.#call('join', { ...group, rank }, limits)),
    receive: (path, dtype, limits) => this.#call('receive', { path, dtype }, limits),
    install: async (version) => void (await this.#call('install', {}, {}, version)),
    save: async (path, limits) => void (await this.#call('save', { path }, limits)),
  }

  close(): void {
    this.#http.close()
  }

  /** Calls what Trinity adds to the servers that it starts: as tensors of a format of our own. */
  async #call(method: string, args: object, limits: CallLimits, version?: string): Promise<string> {
    const body = {
      serialized_named_tensors: new Array(this.#ranks).fill(NO_TENSORS),
      load_format: `trinity ${JSON.stringify({ method, ...args })}`,
      flush_cache: version !== undefined,
      ...(version !== undefined && { weight_version: version }),
    }
    await this.#change('/begin_weight_update', {}, limits)
    try {
      return await this.#change('/update_weights_from_tensor', body, limits)
    } finally {
      await this.#change('/end_weight_update', {}, {})
    }
  }

  /** A change of weights that the server says to have made, in these words. */
  async #change(route: string, body: unknown, limits: CallLimits): Promise<string> {
    const { success, message } = await this.#named(route, () =>
      this.#http.json('POST', route, body, updated, { deadlineMs: LONGEST_MS, ...limits }),
    )
    if (success) return message
    throw new TrinityError('sglang/weights', `the SGLang server did not take the weights: ${message}`, {
      path: this.url,
      hint: "see the server's own log",
    })
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
    // of a draw among one token SGLang tells log-probs as of a greedy one
    return meaningOf(await gap({ temperature: 0 }), await gap({ temperature: 0.5, top_k: 2 }))
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

/** How long a prompt and its answer may be: SGLang cuts answers and refuses prompts that come near its context. */
function longest({ max_req_input_len: input, context_length: context }: z.infer<typeof serverInfo>): number {
  if (typeof input === 'number') return input - 1
  return typeof context === 'number' ? context - CONTEXT_ROOM : Number.MAX_SAFE_INTEGER
}

/** SGLang looks at tokens that end an answer, or at none: those of the model cannot be ignored beside others. */
function needEnds({ wish }: ServedRequest): void {
  if (wish.ends.size > 0 || wish.stopIds.size === 0) return
  throw new TrinityError('engine/unsupported', 'SGLang cannot ignore the end of an answer beside stop tokens', {
    hint: 'use ignore_eos without stop tokens, or stop strings',
  })
}

/** Penalties, bias and ends that come too early are part of what SGLang calls the model's log-probs. */
function needPlain({ wish }: ServedRequest): void {
  const { penalty, presence, frequency, biased, minTokens } = wish
  if (penalty === 1 && presence === 0 && frequency === 0 && biased.length === 0 && minTokens === 0) return
  const what = 'SGLang tells log-probs after penalties, bias and min_tokens: training would go wrong'
  throw new TrinityError('engine/logprobs', what, {
    hint: 'let Trinity start the server (no base_url), or use none of them',
  })
}
