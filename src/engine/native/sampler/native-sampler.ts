import { messageOf, TrinityError } from '../../../base/error.js'
import { Tokenizer } from '../../../model/tokenizer.js'
import { checkedMasks } from '../../allowed-tokens.js'
import { within } from '../../calls.js'
import { checkRequest } from '../../checked-request.js'
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
} from '../../contract.js'
import { checkRows, packRows } from '../../pack.js'
import { saveHuggingFace } from '../checkpoint.js'
import { NativeModel, nativeError, type OpenNative, openNative } from '../native-model.js'
import type { SamplingDtype } from '../options.js'
import { packed, split } from '../packed.js'
import type { NativeSampler, NativeSnapshot, SamplingAddon } from './addon.js'
import { deliver, NATIVE_HOME } from './hand-over.js'
import { SampleLoop } from './loop.js'
import { PagePool } from './pages.js'
import { prefillTokens, Scheduler, type SchedulerOptions } from './scheduler.js'
import { PendingRequest } from './sequence.js'
import { StopStrings } from './stop.js'

/** Tokens that `score` computes at once: enough to be fast, few enough that samples wait for it only a moment. */
const SCORE_TOKENS = 1024

export interface SamplerOptions extends Omit<SchedulerOptions, 'prefillTokens'> {
  readonly path: string
  readonly source: Pick<OpenNative, 'config' | 'configJson'>
  readonly cacheTokens: number
  readonly seed: number
  /** What products are computed in. */
  readonly dtype: SamplingDtype
  /** The weights are those of a trainer: their memory is counted there. */
  readonly shared: boolean
}

/** Samples from a snapshot of weights; many requests at once, in one batch that changes from step to step. */
export class NativeSampleModel implements SampleModel {
  readonly info: ModelInfo
  readonly home = NATIVE_HOME
  readonly #addon: SamplingAddon
  readonly #sampler: NativeSampler
  readonly #options: SamplerOptions
  readonly #closed: (model: NativeSampleModel) => void
  readonly #scheduler: Scheduler
  readonly #loop: SampleLoop
  #shared: boolean
  #tokenizer: Promise<Tokenizer> | undefined
  #requests = 0
  #open = true

  constructor(
    addon: SamplingAddon,
    snapshot: NativeSnapshot,
    info: ModelInfo,
    options: SamplerOptions,
    closed: (model: NativeSampleModel) => void,
  ) {
    const pages = Math.max(1, Math.floor(options.cacheTokens / addon.pageTokens))
    this.info = info
    this.#addon = addon
    this.#options = options
    this.#closed = closed
    this.#shared = options.shared
    this.#sampler = addon.openSampler(snapshot, pages, info.maxModelLen, options.dtype === 'bfloat16')
    this.#scheduler = new Scheduler(new PagePool(pages, addon.pageTokens), {
      ...options,
      prefillTokens: prefillTokens(info.parameters),
    })
    this.#loop = new SampleLoop(addon, this.#sampler, this.#scheduler)
  }

  get version(): number {
    return this.#scheduler.version
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    this.#check()
    const { pool } = this.#scheduler
    const wish = checkRequest(request, {
      info: this.info,
      cacheTokens: pool.size * pool.pageTokens,
      seed: { low: this.#requests++, high: this.#options.seed },
    })
    const { n, promptLogprobs } = request
    const allowed = request.allowed && checkedMasks(request.allowed, this.info.vocabSize)
    const prompt = request.prompt.slice()
    const newStop = await this.#stopper(request.params.stop)
    return within(call, 'sample', async (signal) => {
      this.#check()
      const job = new PendingRequest({ prompt, n, wish, promptLogprobs, onToken, newStop, allowed })
      this.#scheduler.enqueue(job)
      const abort = () => this.#scheduler.abort(job)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      this.#loop.wake()
      try {
        return await job.done
      } catch (error) {
        throw nativeError(error, this.#options.path)
      } finally {
        signal.removeEventListener('abort', abort)
      }
    })
  }

  async score(rows: readonly Row[], call: Call): Promise<RowScores[]> {
    this.#check()
    checkRows(rows, this.info)
    return within(call, 'score', async (signal) => {
      const scores = new Map<Row, RowScores>()
      for (const pack of packRows(rows, SCORE_TOKENS)) {
        signal.throwIfAborted()
        this.#check()
        const all = await this.#addon.sampleScore(this.#sampler, packed(pack)).catch((error) => {
          throw nativeError(error, this.#options.path)
        })
        for (const [i, logprob] of split(pack, all).entries()) scores.set(pack[i], { id: pack[i].id, logprob })
      }
      return rows.map((row) => scores.get(row)!)
    })
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    this.#check()
    return within(call, `saving weights to ${dir}`, async (signal) => {
      const snapshot = this.#addon.weightsOf(this.#sampler)
      const handle = this.#addon.openSnapshot(snapshot)
      this.#addon.releaseSnapshot(snapshot)
      const { path, source } = this.#options
      const params = this.#addon.params(handle)
      const model = new NativeModel(
        { ...source, addon: this.#addon, handle, params, info: this.info },
        { path },
        () => {},
      )
      try {
        await saveHuggingFace(model, dir, signal)
      } finally {
        await model.close()
      }
    })
  }

  loadWeights(dir: string, version: number, inFlight: InFlight, call: Call): Promise<void> {
    this.#check()
    return within(call, `loading weights from ${dir}`, async (signal) => {
      const { handle } = await openNative({ path: dir }, false, signal)
      const snapshot = await this.#addon.snapshot(handle)
      await this.#addon.close(handle)
      try {
        await deliver(snapshot, [this], version, inFlight, signal)
        this.#shared = false
      } finally {
        this.#addon.releaseSnapshot(snapshot)
      }
    })
  }

  stats(): SamplerStats {
    const { pool, running, waiting, promptTokens, cachedTokens, sampledTokens } = this.#scheduler
    return {
      running,
      waiting,
      cacheTokensUsed: pool.used * pool.pageTokens,
      cacheTokens: pool.size * pool.pageTokens,
      promptTokens,
      cachedTokens,
      sampledTokens,
    }
  }

  memory(): MemoryReport {
    const bytes = this.#open ? this.#addon.samplerMemory(this.#sampler) : { weights: 0, cache: 0, activations: 0 }
    return { ...bytes, weights: this.#shared ? 0 : bytes.weights, gradients: 0, optimizer: 0 }
  }

  /** Requests that have begun end with what they have, those that wait as well. */
  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    for (const job of this.#scheduler.jobs('all')) this.#scheduler.abort(job)
    await this.#loop.idle()
    await this.#addon.closeSampler(this.#sampler)
    this.#closed(this)
  }

  /**
   * Brings the sampler to a point between two steps where its weights may be changed, and keeps it there until
   * `release`. `abort` ends the requests that have begun.
   */
  async hold(inFlight: InFlight, signal: AbortSignal): Promise<() => void> {
    this.#check()
    if (inFlight === 'abort') for (const job of this.#scheduler.jobs('begun')) this.#scheduler.abort(job)
    return this.#loop.hold(inFlight === 'finish', signal)
  }

  /** Throws when the weights are from another kind of model. */
  checkFit(snapshot: NativeSnapshot): void {
    this.#check()
    try {
      this.#addon.checkWeights(this.#sampler, snapshot)
    } catch (cause) {
      throw new TrinityError('engine/other-model', messageOf(cause), {
        path: this.#options.path,
        hint: 'sampler and trainer must be opened from the same kind of model',
        cause,
      })
    }
  }

  /** New weights, while held. Requests in flight are computed again with them from their first token on. */
  install(snapshot: NativeSnapshot, version: number): void {
    if (!this.#open) return
    this.#addon.setWeights(this.#sampler, snapshot)
    this.#scheduler.restart()
    this.#scheduler.version = version
    this.#shared = true
  }

  async #stopper(stops: readonly string[] | undefined): Promise<(() => StopStrings) | undefined> {
    if (!stops || stops.length === 0) return undefined
    this.#tokenizer ??= Tokenizer.load(this.#options.path)
    const tokenizer = await this.#tokenizer
    return () => new StopStrings(stops, tokenizer)
  }

  #check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the sampler is closed', { path: this.#options.path })
  }
}
