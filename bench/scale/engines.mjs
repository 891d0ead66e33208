// Samplers that compute nothing and answer when an engine on an H200 would: a decode step takes as long as measured for
// so many sequences (docs/torch-engine.md, 1.5B), prompts 193,000 tokens a second, and answers vary in length.
import { rank } from './text.mjs'

/** Sequences at once → milliseconds of a decode step. */
const STEP_MS = [
  [1, 1.66],
  [64, 2.16],
  [256, 3.56],
  [1024, 11.1],
]
const PROMPT_TOKENS_PER_MS = 193
const POOL = 1 << 20
/** Spread of the lengths of answers: the longest of a hundred is about 2.5 times the mean. */
const SPREAD = 0.4

export class DelayedSampler {
  version = 0
  home = {}
  #running = 0
  #counts = { promptTokens: 0, sampledTokens: 0 }
  #mean
  #pool
  #random

  /** `mean`: tokens of an answer. */
  constructor({ info, mean, pool, random }) {
    this.info = info
    this.#mean = mean
    this.#pool = pool
    this.#random = random
  }

  async sample({ prompt, n, params }, { signal }) {
    const lengths = Array.from({ length: n }, () => this.#length(params.maxTokens))
    this.#running += n
    try {
      const ms = prompt.length / PROMPT_TOKENS_PER_MS + Math.max(...lengths) * stepMs(this.#running)
      await delay(ms, signal)
    } finally {
      this.#running -= n
    }
    this.#counts.promptTokens += prompt.length
    return lengths.map((length) => {
      this.#counts.sampledTokens += length
      const at = Math.floor(this.#random() * (POOL - length))
      return {
        tokens: this.#pool.tokens.slice(at, at + length),
        logprobs: this.#pool.logprobs.slice(at, at + length),
        finish: 'length',
        versions: [{ version: 0, from: 0 }],
        cachedTokens: 0,
      }
    })
  }

  #length(most) {
    const normal = Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random())
    const length = Math.round(this.#mean * Math.exp(SPREAD * normal - SPREAD ** 2 / 2))
    return Math.min(most, Math.max(1, length))
  }

  stats() {
    return { running: this.#running, waiting: 0, cacheTokensUsed: 0, cacheTokens: 0, cachedTokens: 0, ...this.#counts }
  }

  async close() {}
}

/** What all samplers say: a long row of likely words, of which an answer is a stretch. */
export function makePool({ first }, random) {
  const tokens = new Int32Array(POOL)
  const logprobs = new Float32Array(POOL)
  for (let i = 0; i < POOL; i++) {
    tokens[i] = first + rank(random)
    logprobs[i] = Math.log(1 - random()) / 3
  }
  return { tokens, logprobs }
}

function stepMs(sequences) {
  const at = STEP_MS.findIndex(([count]) => count >= sequences)
  if (at <= 0) return STEP_MS.at(at)[1]
  const [[a, low], [b, high]] = STEP_MS.slice(at - 1, at + 1)
  return low + ((high - low) * (sequences - a)) / (b - a)
}

function delay(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
