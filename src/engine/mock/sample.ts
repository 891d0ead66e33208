import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import { checkedMasks, nothingToDraw } from '../allowed-tokens.js'
import { within } from '../calls.js'
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
  VersionSpan,
} from '../contract.js'
import { checkDraw } from '../draw-spec.js'
import { checkRows } from '../pack.js'
import { draw } from './draw.js'
import type { Reply } from './engine.js'
import { MOCK_HOME, MockTrainModel } from './train.js'

/** Samples from a bigram, or speaks what a script says. Requests run side by side, a token at a time. */
export class MockSampleModel implements SampleModel {
  readonly info: ModelInfo
  readonly home = MOCK_HOME
  version = -1
  readonly weights: MockTrainModel
  readonly #options: { eos: number; seed: number; maxQueue: number; latencyMs: number; reply?: Reply }
  readonly #running = new Map<AbortController, Promise<unknown>>()
  #paused: Promise<void> | undefined
  #admitted = 0
  #sampledTokens = 0
  #promptTokens = 0
  #requests = 0

  constructor(
    weights: MockTrainModel,
    options: { eos: number; seed: number; maxQueue: number; latencyMs: number; reply?: Reply },
  ) {
    this.info = weights.info
    this.weights = weights
    this.#options = options
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    const { prompt, params } = request
    checkRows([asRow(prompt, params.temperature)], this.info)
    checkDraw(params, this.info.vocabSize)
    if (prompt.length < 1)
      throw new TrinityError('engine/bad-request', 'the prompt is empty', { hint: 'send at least one token' })
    if (this.#admitted >= this.#options.maxQueue) {
      throw new TrinityError('engine/busy', `${this.#admitted} requests are already waiting`, {
        hint: 'retry later, or raise the queue bound',
      })
    }
    this.#admitted++
    try {
      await this.#paused
      return await this.#run(request, call, onToken)
    } finally {
      this.#admitted--
    }
  }

  async #run(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    const { prompt, n, params } = request
    const own = new AbortController()
    const seed = params.seed ?? this.#options.seed + this.#requests
    this.#requests++
    this.#promptTokens += prompt.length
    const work = within(call, 'sample', async (signal) => {
      const stopped = AbortSignal.any([signal, own.signal])
      const script = await this.#options.reply?.(request)
      const one = (index: number) => this.#one(request, index, seed, script?.[index % script.length], stopped, onToken)
      return Promise.all(Array.from({ length: n }, (_, index) => one(index)))
    })
    this.#running.set(own, work)
    try {
      return await work
    } finally {
      this.#running.delete(own)
    }
  }

  async score(rows: readonly Row[], _call: Call): Promise<RowScores[]> {
    checkRows(rows, this.info)
    return rows.map((row) => this.weights.score(row, ['logprob']))
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return this.weights.saveWeights(dir, call)
  }

  async loadWeights(dir: string, version: number, inFlight: InFlight, _call: Call): Promise<void> {
    const loaded = new MockTrainModel(this.info, dir)
    await loaded.start(dir)
    await this.receive(loaded, version, inFlight)
  }

  /** Takes new weights once the requests in flight are dealt with. */
  async receive(from: MockTrainModel, version: number, inFlight: InFlight): Promise<void> {
    let resume = () => {}
    this.#paused = new Promise((resolve) => {
      resume = resolve
    })
    try {
      if (inFlight === 'abort') for (const control of this.#running.keys()) control.abort()
      if (inFlight !== 'continue') await Promise.allSettled(this.#running.values())
      if (this.weights !== from) this.weights.bigram.weights = from.bigram.weights.slice()
      this.version = version
    } finally {
      this.#paused = undefined
      resume()
    }
  }

  stats(): SamplerStats {
    return {
      running: this.#running.size,
      waiting: this.#admitted - this.#running.size,
      cacheTokensUsed: 0,
      cacheTokens: 0,
      promptTokens: this.#promptTokens,
      cachedTokens: 0,
      sampledTokens: this.#sampledTokens,
    }
  }

  memory(): MemoryReport {
    return { weights: this.info.parameters * 8, gradients: 0, optimizer: 0, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {
    for (const control of this.#running.keys()) control.abort()
    await Promise.allSettled(this.#running.values())
  }

  async #one(
    { prompt, params, allowed }: SampleRequest,
    index: number,
    seed: number,
    script: ArrayLike<number> | undefined,
    signal: AbortSignal,
    onToken?: OnToken,
  ): Promise<Sample> {
    const random = uniform(seed * 1_000_003 + index)
    const tokens: number[] = []
    const logprobs: number[] = []
    const versions: VersionSpan[] = []
    const end = (finish: Sample['finish'], stoppedBy?: number): Sample => ({
      tokens: Int32Array.from(tokens),
      logprobs: Float32Array.from(logprobs),
      finish,
      stoppedBy,
      versions,
      cachedTokens: 0,
    })
    const spec = checkDraw(params, this.info.vocabSize)
    const masks = allowed && checkedMasks(allowed, this.info.vocabSize)
    const next = () => {
      const mask = masks?.(index, Int32Array.from(tokens))
      const soon = tokens.length < (params.minTokens ?? 0)
      const excluded = (token: number) =>
        (soon && token === this.#options.eos) || (mask !== undefined && !((mask[token >> 5] >> (token & 31)) & 1))
      const logits = this.weights.bigram.logits(tokens.at(-1) ?? prompt[prompt.length - 1])
      const token = draw(logits, spec, { prompt, made: tokens, excluded, u: random() })
      if (token < 0) throw nothingToDraw(tokens.length)
      return token
    }
    const most = Math.min(params.maxTokens, this.info.maxModelLen - prompt.length, script?.length ?? Infinity)
    while (tokens.length < most) {
      await (this.#options.latencyMs > 0 ? sleep(this.#options.latencyMs) : turn())
      if (signal.aborted) return end('abort')
      if (versions.at(-1)?.version !== this.version) versions.push({ version: this.version, from: tokens.length })
      const all = this.weights.bigram.logprobs(tokens.at(-1) ?? prompt[prompt.length - 1], params.temperature || 1)
      const token = script ? script[tokens.length] : next()
      tokens.push(token)
      logprobs.push(all[token])
      this.#sampledTokens++
      onToken?.(index, token, all[token])
      if (token === this.#options.eos && !params.ignoreEos) return end('stop')
      if (params.stopTokenIds?.includes(token)) return end('stop', token)
    }
    return end(script && tokens.length === script.length ? 'stop' : 'length')
  }
}

function asRow(tokens: Int32Array, temperature: number): Row {
  return {
    id: 'prompt',
    tokens,
    start: tokens.length,
    mask: new Uint8Array(0),
    temperature: temperature || 1,
    columns: {},
  }
}

/** mulberry32: small, seeded, good enough for a mock. */
function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}
