/** A training step written out in plain double precision, with derivatives by finite differences: shares no code with src. */

export interface Sequence {
  tokens: ArrayLike<number>
  start: number
  mask: ArrayLike<number>
  temperature: number
}

type Weights = Float64Array

/** log softmax(logits / T) of each scored token under a bigram table; V² logits, then V values. */
export function logprobs(weights: Weights, vocab: number, { tokens, start, temperature }: Sequence): number[] {
  return positions(tokens, start).map((at) => {
    const row = [...weights.slice(tokens[at - 1] * vocab, (tokens[at - 1] + 1) * vocab)].map((x) => x / temperature)
    return row[tokens[at]] - Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0))
  })
}

export function values(weights: Weights, vocab: number, { tokens, start }: Sequence): number[] {
  return positions(tokens, start).map((at) => weights[vocab * vocab + tokens[at - 1]])
}

const positions = (tokens: ArrayLike<number>, start: number) =>
  Array.from({ length: tokens.length - start }, (_, i) => start + i)

/** Mean over all active tokens of the batch. */
export function tokenMean(rows: readonly { mask: ArrayLike<number>; losses: number[] }[]): number {
  let [sum, count] = [0, 0]
  for (const { mask, losses } of rows) {
    for (const [i, loss] of losses.entries()) {
      if (mask[i] === 0) continue
      sum += loss
      count++
    }
  }
  return sum / count
}

export function gradient(loss: (weights: Weights) => number, weights: Weights): Float64Array {
  const h = 1e-6
  return weights.map((_, i) => {
    const [up, down] = [weights.slice(), weights.slice()]
    up[i] += h
    down[i] -= h
    return (loss(up) - loss(down)) / (2 * h)
  })
}

/** The first update of Adam: both moments equal the gradient after their bias is corrected. */
export function firstUpdate(weights: Weights, grad: Float64Array, lr: number, eps: number): Float64Array {
  return weights.map((w, i) => w - (lr * grad[i]) / (Math.abs(grad[i]) + eps))
}

export const norm = (grad: Float64Array): number => Math.sqrt(grad.reduce((sum, g) => sum + g * g, 0))
