const { fround } = Math

/** What Anserini sets when it is not told otherwise. */
const K1 = fround(0.9)
const B = fround(0.4)

/**
 * BM25 as Lucene computes it since version 8: without the factor k1 + 1, with the lengths of documents kept in a byte, and
 * step by step in single precision, so that what is equal there is equal here.
 */
export class Bm25 {
  readonly #documents: number
  /** By encoded length: one over how much a long document weighs a word down. */
  readonly #inverse: Float32Array

  /** `documents`: those with a term at all. `terms`: of all documents together. */
  constructor({ documents, terms }: { documents: number; terms: number }) {
    this.#documents = documents
    const average = fround(terms / documents)
    this.#inverse = Float32Array.from({ length: 256 }, (_, code) => {
      const share = fround(fround(B * decodeLength(code)) / average)
      return 1 / fround(K1 * fround(fround(1 - B) + share))
    })
  }

  /** What a term can at most add: how rare it is, times how often the query has it. */
  weight(documentsWithTerm: number, timesInQuery: number): number {
    const rarity = Math.log(1 + (this.#documents - documentsWithTerm + 0.5) / (documentsWithTerm + 0.5))
    return fround(timesInQuery * fround(rarity))
  }

  score(weight: number, timesInDocument: number, lengthCode: number): number {
    const saturation = fround(1 + fround(timesInDocument * this.#inverse[lengthCode]))
    return fround(weight - fround(weight / saturation))
  }
}

/** Codes that stand for themselves. */
const EXACT = 24

/** A length in a byte: exact up to 39, then with four significant bits. */
export function encodeLength(length: number): number {
  return length < EXACT ? length : EXACT + toFloat4(length - EXACT)
}

export function decodeLength(code: number): number {
  return code < EXACT ? code : EXACT + fromFloat4(code - EXACT)
}

function toFloat4(value: number): number {
  const bits = 32 - Math.clz32(value)
  if (bits < 4) return value
  const shift = bits - 4
  return ((value >>> shift) & 7) | ((shift + 1) << 3)
}

function fromFloat4(code: number): number {
  const shift = (code >>> 3) - 1
  return shift < 0 ? code & 7 : ((code & 7) | 8) * 2 ** shift
}
