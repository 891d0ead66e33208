import type { AdamStep } from '../contract.js'

/** d(loss) by what a scored token has: log-probs of tokens, its own among them, entropy, Σp² and value. */
export interface BigramPull {
  readonly logprobs: readonly { readonly token: number; readonly pull: number }[]
  readonly entropy: number
  readonly squares: number
  readonly value: number
}

/**
 * The smallest language model that learns: the next token depends on the one before, through a table of logits.
 * It gives the mock engine true log-probs, entropies and gradients, all in a few microseconds.
 */
export class Bigram {
  readonly vocabSize: number
  /** Row `prev` of the V×V table holds the logits after token `prev`; V more entries are the value of each token. */
  weights: Float64Array
  readonly #gradient: Float64Array
  #mean: Float64Array
  #square: Float64Array
  #steps = 0

  constructor(vocabSize: number) {
    const size = vocabSize * vocabSize + vocabSize
    this.vocabSize = vocabSize
    this.weights = new Float64Array(size)
    this.#gradient = new Float64Array(size)
    this.#mean = new Float64Array(size)
    this.#square = new Float64Array(size)
  }

  /** Of every token after `prev`; a copy. */
  logits(prev: number): Float64Array {
    return this.weights.slice(prev * this.vocabSize, (prev + 1) * this.vocabSize)
  }

  /** log softmax(logits / T) of every token after `prev`. */
  logprobs(prev: number, temperature: number): Float64Array {
    const scores = this.logits(prev)
    let max = -Infinity
    for (let i = 0; i < scores.length; i++) {
      scores[i] /= temperature
      if (scores[i] > max) max = scores[i]
    }
    let sum = 0
    for (let i = 0; i < scores.length; i++) sum += Math.exp(scores[i] - max)
    const logSum = max + Math.log(sum)
    for (let i = 0; i < scores.length; i++) scores[i] -= logSum
    return scores
  }

  value(prev: number): number {
    return this.weights[this.vocabSize ** 2 + prev]
  }

  /** Adds the gradient of one scored token, given d(loss) by its scores. */
  backward(prev: number, temperature: number, by: BigramPull): void {
    const logp = this.logprobs(prev, temperature)
    const entropy = entropyOf(logp)
    const squares = squaresOf(logp)
    const pulled = by.logprobs.reduce((sum, { pull }) => sum + pull, 0)
    const at = prev * this.vocabSize
    for (let j = 0; j < this.vocabSize; j++) {
      const p = Math.exp(logp[j])
      const viaEntropy = p > 0 ? -by.entropy * (logp[j] + entropy) : 0
      const viaSquares = 2 * by.squares * (p - squares)
      this.#gradient[at + j] += (p * (viaEntropy + viaSquares - pulled)) / temperature
    }
    for (const { token, pull } of by.logprobs) this.#gradient[at + token] += pull / temperature
    this.#gradient[this.vocabSize ** 2 + prev] += by.value
  }

  discardGradient(): void {
    this.#gradient.fill(0)
  }

  adam({ lr, betas, eps, weightDecay, gradClip }: AdamStep): { gradNorm: number; applied: boolean } {
    const gradNorm = Math.sqrt(this.#gradient.reduce((sum, g) => sum + g * g, 0))
    if (!Number.isFinite(gradNorm)) {
      this.discardGradient()
      return { gradNorm, applied: false }
    }
    const scale = gradClip > 0 ? Math.min(1, gradClip / (gradNorm + 1e-6)) : 1
    this.#steps++
    const correct1 = 1 - betas[0] ** this.#steps
    const correct2 = 1 - betas[1] ** this.#steps
    for (let i = 0; i < this.weights.length; i++) {
      const g = this.#gradient[i] * scale
      this.#mean[i] = betas[0] * this.#mean[i] + (1 - betas[0]) * g
      this.#square[i] = betas[1] * this.#square[i] + (1 - betas[1]) * g * g
      this.weights[i] -= lr * weightDecay * this.weights[i]
      this.weights[i] -= (lr * (this.#mean[i] / correct1)) / (Math.sqrt(this.#square[i] / correct2) + eps)
    }
    this.discardGradient()
    return { gradNorm, applied: true }
  }

  get gradient(): Readonly<Float64Array> {
    return this.#gradient
  }

  toJSON(): BigramState {
    return {
      vocabSize: this.vocabSize,
      steps: this.#steps,
      weights: [...this.weights],
      mean: [...this.#mean],
      square: [...this.#square],
    }
  }

  restore(state: BigramState): void {
    this.weights = Float64Array.from(state.weights)
    this.#mean = Float64Array.from(state.mean)
    this.#square = Float64Array.from(state.square)
    this.#steps = state.steps
    this.discardGradient()
  }
}

export interface BigramState {
  vocabSize: number
  steps: number
  weights: number[]
  mean: number[]
  square: number[]
}

/** Σp² */
export function squaresOf(logprobs: Float64Array): number {
  return logprobs.reduce((sum, x) => sum + Math.exp(2 * x), 0)
}

export function entropyOf(logprobs: Float64Array): number {
  return -logprobs.reduce((sum, x) => (x === -Infinity ? sum : sum + Math.exp(x) * x), 0)
}
