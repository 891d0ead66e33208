import { TrinityError } from '../../base/error.js'
import type { Tokenizer } from '../../model/tokenizer.js'
import { within } from '../calls.js'
import { type CheckedRequest, checkRequest } from '../checked-request.js'
import type {
  Call,
  InFlight,
  MemoryReport,
  ModelInfo,
  OnToken,
  Row,
  RowScores,
  Sample,
  SampleModel,
  SampleRequest,
  SamplerStats,
} from '../contract.js'
import { StopStrings } from '../native/sampler/stop.js'
import { checkRows } from '../pack.js'
import { badAnswer, unsupported } from './failure.js'
import { SamplingSession, type Weights } from './sampling-session.js'
import { readWeights, writeWeights } from './saved.js'
import type { SavedPaths } from './saved-paths.js'
import type { TinkerSession } from './session.js'
import type { SampledSequence } from './wire/sample.js'
import { checkWish } from './wish.js'

export interface SamplerPlace {
  readonly session: TinkerSession
  readonly paths: SavedPaths
  readonly info: ModelInfo
  /** The model directory, which is the base model to the service. */
  readonly path: string
  readonly baseModel: string
  readonly seed: number
  readonly maxQueue: number
  /** Read when a stop string needs it. */
  readonly tokenizer: () => Promise<Tokenizer>
  /** Weights must not change while samples of the old ones are under way. */
  readonly mixes: boolean
}

/** Samples at the service; many requests at once, each from the weights that were newest when it came. */
export class TinkerSampleModel implements SampleModel {
  readonly info: ModelInfo
  readonly home: object
  version = -1
  readonly #place: SamplerPlace
  #sampling: SamplingSession
  readonly #running = new Map<AbortController, Promise<unknown>>()
  /** New requests wait while weights change. */
  #changing: Promise<unknown> = Promise.resolve()
  #admitted = 0
  #requests = 0
  #promptTokens = 0
  #cachedTokens = 0
  #sampledTokens = 0
  #open = true

  constructor(place: SamplerPlace, sampling: SamplingSession) {
    this.#place = place
    this.#sampling = sampling
    this.info = place.info
    this.home = place.session
    if ('path' in sampling.weights) place.paths.hold(sampling.weights.path)
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    this.#check()
    checkWish(request)
    const { info, seed, maxQueue } = this.#place
    const wish = checkRequest(request, {
      info,
      cacheTokens: Number.MAX_SAFE_INTEGER,
      seed: { low: this.#requests++, high: seed },
    })
    if (this.#admitted >= maxQueue) {
      throw new TrinityError('engine/busy', `${this.#admitted} requests are already waiting`, {
        hint: 'retry later, or raise the queue bound',
      })
    }
    this.#admitted++
    try {
      await this.#changing
      return await this.#run(request, wish, call, onToken)
    } finally {
      this.#admitted--
    }
  }

  async #run(request: SampleRequest, wish: CheckedRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    const own = new AbortController()
    const { version } = this
    const sampling = this.#sampling
    const work = within(call, 'sample', async (signal) => {
      const stopped = AbortSignal.any([signal, own.signal])
      const tokenizer = request.params.stop?.length ? await this.#place.tokenizer() : undefined
      try {
        return await this.#ask(sampling, request, wish, tokenizer, version, stopped)
      } catch (error) {
        // nothing comes before everything is done: this is what there is
        if (own.signal.aborted || call.signal?.aborted) return Array.from({ length: request.n }, nothing)
        throw error
      }
    })
    this.#running.set(own, work)
    try {
      const samples = await work
      for (const [i, { tokens, logprobs }] of samples.entries())
        for (const [at, token] of tokens.entries()) onToken?.(i, token, logprobs[at])
      return samples
    } finally {
      this.#running.delete(own)
    }
  }

  async #ask(
    sampling: SamplingSession,
    { prompt, n, params, promptLogprobs = false }: SampleRequest,
    wish: CheckedRequest,
    tokenizer: Tokenizer | undefined,
    version: number,
    signal: AbortSignal,
  ): Promise<Sample[]> {
    const answer = await sampling.sample(
      {
        prompt,
        n,
        maxTokens: wish.maxTokens,
        temperature: params.temperature,
        topK: wish.topK > 0 ? wish.topK : undefined,
        topP: wish.topP,
        seed: seedOf(wish),
        stopTokens: [...wish.ends, ...wish.stopIds],
        promptLogprobs,
      },
      signal,
    )
    this.#promptTokens += prompt.length
    this.#cachedTokens += answer.cachedTokens
    return answer.sequences.map((sequence) => {
      for (const id of sequence.tokens)
        if (!(id >= 0 && id < this.info.vocabSize)) throw badAnswer(`a sample holds token ${id}`)
      const sample = ended(sequence, wish, params.stop ?? [], tokenizer)
      this.#sampledTokens += sample.tokens.length
      return {
        ...sample,
        ...(answer.promptLogprobs && { promptLogprobs: answer.promptLogprobs }),
        versions: [{ version, from: 0 }],
        cachedTokens: answer.cachedTokens,
      }
    })
  }

  /** Each row is a prompt whose log-probs are asked for. */
  score(rows: readonly Row[], call: Call): Promise<RowScores[]> {
    return within(call, 'score', async (signal) => {
      this.#check()
      checkRows(rows, this.info)
      const sampling = this.#sampling
      return Promise.all(
        rows.map(async ({ id, tokens, start, temperature }) => {
          if (temperature !== 1)
            throw unsupported(`scores at temperature 1, not ${temperature}`, id, 'give rows of temperature 1')
          const asked = { prompt: tokens, n: 1, maxTokens: 1, temperature: 1, promptLogprobs: true }
          const { promptLogprobs } = await sampling.sample(asked, signal)
          return { id, logprob: promptLogprobs!.slice(start) }
        }),
      )
    })
  }

  async saveWeights(dir: string, _call: Call): Promise<void> {
    const { weights } = this.#sampling
    if (!('path' in weights)) {
      throw unsupported('has no weights of its own to save before the first step', dir, 'load the model itself')
    }
    this.#place.paths.keep(weights.path)
    await writeWeights(dir, { service: this.#place.session.url, path: weights.path })
  }

  loadWeights(dir: string, version: number, inFlight: InFlight, call: Call): Promise<void> {
    return within(call, `loading weights from ${dir}`, async (signal) => {
      const saved = await readWeights(dir)
      if (!saved && dir !== this.#place.path) {
        throw unsupported('cannot take weights from a folder', dir, 'train with trainer.trainer_type tinker as well')
      }
      if (saved) this.#place.paths.keep(saved.path)
      await this.take(saved ? { path: saved.path } : { baseModel: this.#place.baseModel }, version, inFlight, signal)
    })
  }

  /** Samples from other weights from now on; what runs is finished with the old ones, or ended. */
  take(weights: Weights, version: number, inFlight: InFlight, signal: AbortSignal): Promise<void> {
    const change = this.#changing
      .catch(() => {})
      .then(async () => {
        this.#check()
        if (inFlight === 'abort') for (const control of this.#running.keys()) control.abort()
        if (inFlight !== 'continue' || this.#place.mixes) await Promise.allSettled(this.#running.values())
        signal.throwIfAborted()
        const next = await SamplingSession.open(this.#place.session, weights, signal)
        if ('path' in weights) this.#place.paths.hold(weights.path)
        const old = this.#sampling.weights
        this.#sampling = next
        this.version = version
        void this.#afterRunning('path' in old ? old.path : undefined)
      })
    this.#changing = change.catch(() => {})
    return change
  }

  /** Old weights are needed as long as requests of theirs run. */
  async #afterRunning(path: string | undefined): Promise<void> {
    await Promise.allSettled(this.#running.values())
    if (path !== undefined) await this.#place.paths.release(path)
  }

  stats(): SamplerStats {
    return {
      running: this.#running.size,
      waiting: this.#admitted - this.#running.size,
      cacheTokensUsed: 0,
      cacheTokens: 0,
      promptTokens: this.#promptTokens,
      cachedTokens: this.#cachedTokens,
      sampledTokens: this.#sampledTokens,
    }
  }

  memory(): MemoryReport {
    return { weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    for (const control of this.#running.keys()) control.abort()
    const { weights } = this.#sampling
    await this.#afterRunning('path' in weights ? weights.path : undefined)
  }

  #check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the model is closed', { path: this.#place.path })
  }
}

/** A number that services of any language take: 31 bits of both halves. */
function seedOf({ seedLow, seedHigh }: CheckedRequest): number {
  return (Math.imul(seedHigh, 0x9e3779b1) ^ seedLow) & 0x7fffffff
}

/** Cut at the first stop string, which the API cannot look for beside stop tokens; and by what it ended. */
function ended(
  { tokens, logprobs, stop }: SampledSequence,
  { ends, stopIds }: CheckedRequest,
  stops: readonly string[],
  tokenizer: Tokenizer | undefined,
): Pick<Sample, 'tokens' | 'logprobs' | 'finish' | 'stoppedBy'> {
  if (!logprobs) throw badAnswer('samples come without log-probs')
  const strings = tokenizer && stops.length > 0 ? new StopStrings(stops, tokenizer) : undefined
  for (const [i, token] of tokens.entries()) {
    const length = i + 1
    const cut = (stoppedBy?: string | number) => ({
      tokens: tokens.slice(0, length),
      logprobs: logprobs.slice(0, length),
      finish: 'stop' as const,
      ...(stoppedBy !== undefined && { stoppedBy }),
    })
    if (ends.has(token)) return cut()
    if (stopIds.has(token)) return cut(token)
    const found = strings?.push(token)
    if (found !== undefined) return cut(found)
  }
  return { tokens, logprobs, finish: stop }
}

function nothing(): Sample {
  return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finish: 'abort', versions: [], cachedTokens: 0 }
}
