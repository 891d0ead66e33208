import type { CheckedRequest } from '../../checked-request.js'
import type { AllowedTokens, OnToken, Sample, VersionSpan } from '../../contract.js'
import { room } from './step.js'
import type { StopStrings } from './stop.js'

/** A request in hand: its samples, and who waits for them. */
export class PendingRequest {
  readonly prompt: Int32Array
  readonly n: number
  readonly wish: CheckedRequest
  readonly onToken?: OnToken
  readonly newStop?: () => StopStrings
  readonly allowed?: AllowedTokens
  /** What asking for allowed tokens ended in. */
  broken?: { readonly error: unknown }
  readonly live = new Set<Sequence>()
  readonly samples: Sample[]
  readonly done: Promise<Sample[]>
  /** Entry i belongs to prompt token i; there only where they are asked for. */
  readonly promptLogprobs?: Float32Array
  promptScored = false
  /** Some of it was computed: it belongs to the weights of that time. */
  started = false
  cachedTokens = 0
  #missing: number
  #resolve!: (samples: Sample[]) => void
  #reject!: (error: unknown) => void

  constructor(options: {
    prompt: Int32Array
    n: number
    wish: CheckedRequest
    promptLogprobs?: boolean
    onToken?: OnToken
    newStop?: () => StopStrings
    allowed?: AllowedTokens
  }) {
    this.prompt = options.prompt
    this.n = options.n
    this.wish = options.wish
    this.onToken = options.onToken
    this.newStop = options.newStop
    this.allowed = options.allowed
    if (options.promptLogprobs) this.promptLogprobs = new Float32Array(options.prompt.length).fill(Number.NaN)
    this.#missing = options.n
    this.samples = new Array(options.n)
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  deliver(index: number, sample: Sample): void {
    this.samples[index] = sample
    if (--this.#missing === 0) this.#resolve(this.samples)
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}

/** One sample on its way: all its tokens, and which of them are in the cache. */
export class Sequence {
  readonly job: PendingRequest
  readonly index: number
  /** Samples that will be drawn from this prompt; 1 once they have parted. */
  fanout: number
  tokens: Int32Array
  length: number
  /** Tokens whose keys and values lie in `pages`. */
  computed = 0
  readonly pages: number[] = []
  /** Full pages that the pool knows, and the chain they make. */
  knownPages = 0
  chain = 0
  /** A page to copy into the last one before the next step; −1: none. */
  copyFrom = -1
  state: 'waiting' | 'running' | 'done' = 'waiting'
  logprobs = new Float32Array(16)
  drawn?: Float32Array
  top?: { tokens: Int32Array; logprobs: Float32Array }[]
  readonly versions: VersionSpan[] = []
  readonly #stop?: StopStrings

  constructor(job: PendingRequest, index: number, fanout: number) {
    this.job = job
    this.index = index
    this.fanout = fanout
    this.tokens = new Int32Array(job.prompt.length + Math.min(16, job.wish.maxTokens))
    this.tokens.set(job.prompt)
    this.length = job.prompt.length
    if (job.wish.reshaped) this.drawn = new Float32Array(16)
    if (job.wish.top > 0) this.top = []
    this.#stop = job.newStop?.()
    job.live.add(this)
  }

  /** Tokens drawn so far. */
  get made(): number {
    return this.length - this.job.prompt.length
  }

  /** Tokens to compute before the next can be drawn. */
  get pending(): number {
    return this.length - this.computed
  }

  /** Appends a token; says how the sequence ends with it, or undefined to go on. */
  append(token: number, logprob: number, drawn: number, version: number): Ending | undefined {
    const { wish } = this.job
    const at = this.made
    if (this.versions.length === 0 || this.versions[this.versions.length - 1].version !== version)
      this.versions.push({ version, from: at })
    this.tokens = room(this.tokens, this.length + 1)
    this.tokens[this.length++] = token
    this.logprobs = room(this.logprobs, at + 1)
    this.logprobs[at] = logprob
    if (this.drawn) {
      this.drawn = room(this.drawn, at + 1)
      this.drawn[at] = drawn
    }
    // Fed with every token, also while too short to stop: a character may lie across the border.
    const stop = this.#stop?.push(token)
    if (wish.ends.has(token)) return { finish: 'stop' }
    if (wish.stopIds.has(token)) return { finish: 'stop', stoppedBy: token }
    if (stop !== undefined && at + 1 >= wish.minTokens) return { finish: 'stop', stoppedBy: stop }
    return at + 1 >= wish.maxTokens ? { finish: 'length' } : undefined
  }

  sample(ending: Ending): Sample {
    const { job, made } = this
    return {
      tokens: this.tokens.slice(job.prompt.length, this.length),
      logprobs: this.logprobs.slice(0, made),
      ...(this.drawn && { drawnLogprobs: this.drawn.slice(0, made) }),
      ...(this.top && { topLogprobs: this.top }),
      ...(job.promptLogprobs && { promptLogprobs: job.promptLogprobs }),
      ...ending,
      versions: this.versions,
      cachedTokens: job.cachedTokens,
    }
  }
}

export type Ending = Pick<Sample, 'finish' | 'stoppedBy'>
