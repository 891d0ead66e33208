/** The best documents so far, the best first. Where scores are equal the lower rank is better. */
export class Top {
  readonly documents: number[] = []
  readonly #scores: number[] = []
  readonly #most: number
  readonly #ranks: Uint32Array

  constructor(most: number, ranks: Uint32Array) {
    this.#most = most
    this.#ranks = ranks
  }

  /** What has less does not come in; what has as much may. */
  get threshold(): number {
    return this.#scores.length < this.#most ? 0 : this.#scores[this.#most - 1]
  }

  add(document: number, score: number): void {
    if (this.#scores.length === this.#most && !this.#isBefore(score, document, this.#most - 1)) return
    let low = 0
    let high = this.#scores.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isBefore(score, document, middle)) high = middle
      else low = middle + 1
    }
    this.#scores.splice(low, 0, score)
    this.documents.splice(low, 0, document)
    if (this.#scores.length <= this.#most) return
    this.#scores.pop()
    this.documents.pop()
  }

  /** Of the documents in their order. */
  get scores(): readonly number[] {
    return this.#scores
  }

  #isBefore(score: number, document: number, place: number): boolean {
    if (score !== this.#scores[place]) return score > this.#scores[place]
    return this.#ranks[document] < this.#ranks[this.documents[place]]
  }
}
