import { analyze } from './analyze.js'
import { Bm25 } from './bm25.js'
import type { Postings } from './postings.js'
import { Top } from './top.js'

/** What is searched. */
export interface SearchIndex {
  postings(term: string): Postings
  /** By document: its length in a byte. */
  readonly lengths: Uint8Array
  /** By document: its place in the order of ids, which decides between equal scores. */
  readonly ranks: Uint32Array
  /** Documents with a term at all. */
  readonly documents: number
  /** Terms of all documents together. */
  readonly terms: number
}

/** A document that was found. */
export interface Hit {
  readonly document: number
  readonly score: number
}

/** A term of the query as it goes through its documents. */
interface Cursor {
  readonly postings: Postings
  readonly weight: number
  /** The most that it adds anywhere. */
  readonly most: number
  at: number
}

/** Documents that are scored together. */
const WINDOW = 4096
/** Scores are rounded to single precision: a bound is not one by the last digit. */
const SLACK = 1 + 1e-6

/** Finds documents by the words of a query, in Lucene's order. */
export class Searcher {
  readonly #index: SearchIndex
  readonly #bm25: Bm25
  /** The share of its weight that a term reaches in its best document. */
  readonly #shares = new WeakMap<Postings, number>()
  readonly #sums = new Float64Array(WINDOW)

  constructor(index: SearchIndex) {
    this.#index = index
    this.#bm25 = new Bm25(index)
  }

  /** The best documents that have a word of the query, the best first. */
  search(query: string, most: number): Hit[] {
    const cursors = this.#cursors(query)
    const top = new Top(most, this.#index.ranks)
    // bounds[i]: what the terms before the i-th can add together
    const bounds = [0]
    for (const cursor of cursors) bounds.push(bounds[bounds.length - 1] + cursor.most)
    // A document that has none of the terms from `needed` on cannot come in any more.
    let needed = 0
    for (let first = nextOf(cursors, needed); first < Number.POSITIVE_INFINITY; first = nextOf(cursors, needed)) {
      for (let i = needed; i < cursors.length; i++) this.#gather(cursors[i], first)
      this.#rate(first, cursors.slice(0, needed), bounds, top)
      while (needed < cursors.length && bounds[needed + 1] * SLACK < top.threshold) needed++
    }
    return top.documents.map((document, i) => ({ document, score: top.scores[i] }))
  }

  /** Those with the most to add come last. */
  #cursors(query: string): Cursor[] {
    const times = new Map<string, number>()
    for (const term of analyze(query)) times.set(term, (times.get(term) ?? 0) + 1)
    const cursors: Cursor[] = []
    for (const [term, count] of times) {
      const postings = this.#index.postings(term)
      if (postings.documents.length === 0) continue
      const weight = this.#bm25.weight(postings.documents.length, count)
      cursors.push({ postings, weight, most: weight * this.#share(postings) * SLACK, at: 0 })
    }
    return cursors.sort((a, b) => a.most - b.most)
  }

  #share(postings: Postings): number {
    const known = this.#shares.get(postings)
    if (known !== undefined) return known
    const { documents, counts } = postings
    let share = 0
    for (let i = 0; i < documents.length; i++) {
      share = Math.max(share, this.#bm25.score(1, counts[i], this.#index.lengths[documents[i]]))
    }
    this.#shares.set(postings, share)
    return share
  }

  /** Adds what a term is worth to the sums of the window. */
  #gather(cursor: Cursor, first: number): void {
    const { postings, weight } = cursor
    const { documents, counts } = postings
    const { lengths } = this.#index
    let at = cursor.at
    for (; at < documents.length && documents[at] < first + WINDOW; at++) {
      const document = documents[at]
      this.#sums[document - first] += this.#bm25.score(weight, counts[at], lengths[document])
    }
    cursor.at = at
  }

  /** Takes the documents of the window that may come in, with what the other terms add, and clears the sums. */
  #rate(first: number, others: readonly Cursor[], bounds: readonly number[], top: Top): void {
    for (let place = 0; place < WINDOW; place++) {
      if (this.#sums[place] === 0) continue
      const score = this.#complete(this.#sums[place], first + place, others, bounds, top.threshold)
      if (score >= top.threshold) top.add(first + place, score)
      this.#sums[place] = 0
    }
  }

  /** The whole score; something below the threshold as soon as it must be. */
  #complete(sum: number, document: number, others: readonly Cursor[], bounds: readonly number[], threshold: number) {
    let score = sum
    for (let i = others.length - 1; i >= 0; i--) {
      if ((score + bounds[i + 1]) * SLACK < threshold) return Number.NEGATIVE_INFINITY
      const { postings, weight } = others[i]
      seek(others[i], document)
      if (postings.documents[others[i].at] !== document) continue
      score += this.#bm25.score(weight, postings.counts[others[i].at], this.#index.lengths[document])
    }
    return Math.fround(score)
  }
}

/** Goes on to the first document that is not before this one. */
function seek(cursor: Cursor, document: number): void {
  const { documents } = cursor.postings
  let step = 1
  while (cursor.at + step < documents.length && documents[cursor.at + step] < document) step *= 2
  let low = cursor.at + (step >> 1)
  let high = Math.min(cursor.at + step, documents.length)
  while (low < high) {
    const middle = (low + high) >> 1
    if (documents[middle] < document) low = middle + 1
    else high = middle
  }
  cursor.at = low
}

/** The first document that is left to any of the terms from there on. */
function nextOf(cursors: readonly Cursor[], from: number): number {
  let next = Number.POSITIVE_INFINITY
  for (let i = from; i < cursors.length; i++) {
    const { postings, at } = cursors[i]
    if (at < postings.documents.length) next = Math.min(next, postings.documents[at])
  }
  return next
}
