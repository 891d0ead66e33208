/** What is asked of one token: where it is predicted, which it is, at which temperature; and which others are asked for there. */
export interface Asked {
  readonly rows: Int32Array
  readonly targets: Int32Array
  readonly invT: Float32Array
  readonly others: readonly Int32Array[]
}

/** Scores that rows have in common, taken once: rows that begin alike may both score a token there. */
export class Distinct {
  /** Of every token that is asked for: its place among the scores that are taken. Absent: each is one of its own. */
  readonly #place?: Int32Array
  readonly #taken: Int32Array

  constructor(asked: Asked, tokens: number) {
    const count = asked.rows.length
    const place = new Int32Array(count)
    // The tokens that the same hidden state predicts are a list: its last, and of each the one before.
    const last = new Int32Array(tokens).fill(-1)
    const earlier = new Int32Array(count)
    const taken: number[] = []
    for (let i = 0; i < count; i++) {
      let found = last[asked.rows[i]]
      while (found >= 0 && !sameScore(asked, i, found)) found = earlier[found]
      if (found < 0) {
        earlier[i] = last[asked.rows[i]]
        last[asked.rows[i]] = i
        place[i] = taken.push(i) - 1
      } else place[i] = place[found]
    }
    this.#taken = Int32Array.from(taken)
    if (taken.length < count) this.#place = place
  }

  /** Of each score that is taken: what was asked there. */
  pick<T extends Int32Array | Float32Array>(asked: T): T {
    const make = asked.constructor as unknown as { from(list: Int32Array, of: (i: number) => number): T }
    return this.#place ? make.from(this.#taken, (i) => asked[i]) : asked
  }

  /** Of every token that is asked for: its score. */
  deal(scores: Float32Array): Float32Array {
    return this.#place ? Float32Array.from(this.#place, (i) => scores[i]) : scores
  }

  /** Gradients of every token that is asked for, summed for each score that is taken. */
  sum(grads: Float32Array): Float32Array {
    if (!this.#place) return grads
    const sums = new Float32Array(this.#taken.length)
    for (const [i, place] of this.#place.entries()) sums[place] += grads[i]
    return sums
  }
}

function sameScore({ targets, invT, others }: Asked, a: number, b: number): boolean {
  return targets[a] === targets[b] && invT[a] === invT[b] && others.every((ids) => ids[a] === ids[b])
}
