import type { AdamStep } from '../contract.js'

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

  /** Adds the gradient of one scored token, given d(loss)/d(log-prob), d(loss)/d(entropy), d(loss)/d(value). */
  backward(prev: number, token: number, temperature: number, dLogprob: number, dEntropy: number, dValue: number): void {
    const logp = this.logprobs(prev, temperature)
    const entropy = entropyOf(logp)
    for (let j = 0; j < this.vocabSize; j++) {
      const p = Math.exp(logp[j])
      const viaLogprob = dLogprob * ((j === token ? 1 : 0) - p)
      const viaEntropy = p > 0 ? -dEntropy * p * (logp[j] + entropy) : 0
      this.#gradient[prev * this.vocabSize + j] += (viaLogprob + viaEntropy) / temperature
    }
    this.#gradient[this.vocabSize ** 2 + prev] += dValue
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

export function entropyOf(logprobs: Float64Array): number {
  return -logprobs.reduce((sum, x) => (x === -Infinity ? sum : sum + Math.exp(x) * x), 0)
}
