/** In which documents a term stands, in their order, and how often. */
export interface Postings {
  readonly documents: Uint32Array
  readonly counts: Uint16Array
}

export const NO_POSTINGS: Postings = { documents: new Uint32Array(0), counts: new Uint16Array(0) }

const MOST = 0xffff

/** Gathers the terms of documents that come in order. */
export class PostingsWriter {
  readonly #terms = new Map<string, { documents: number[]; counts: number[] }>()

  add(document: number, terms: readonly string[]): void {
    for (const term of terms) {
      let list = this.#terms.get(term)
      if (!list) {
        list = { documents: [], counts: [] }
        this.#terms.set(term, list)
      }
      const last = list.documents.length - 1
      if (list.documents[last] === document) {
        if (list.counts[last] < MOST) list.counts[last]++
      } else {
        list.documents.push(document)
        list.counts.push(1)
      }
    }
  }

  /** Each term with its postings as bytes. */
  *entries(): Iterable<[term: string, bytes: Uint8Array]> {
    for (const [term, { documents, counts }] of this.#terms) {
      const bytes = new Uint8Array(6 * documents.length)
      new Uint32Array(bytes.buffer, 0, documents.length).set(documents)
      new Uint16Array(bytes.buffer, 4 * documents.length).set(counts)
      yield [term, bytes]
    }
  }
}

/** Pieces that follow each other, joined. */
export function readPostings(pieces: readonly ArrayBuffer[]): Postings {
  const parts = pieces.map((piece) => {
    const length = piece.byteLength / 6
    return { documents: new Uint32Array(piece, 0, length), counts: new Uint16Array(piece, 4 * length, length) }
  })
  if (parts.length < 2) return parts[0] ?? NO_POSTINGS
  const length = parts.reduce((sum, { documents }) => sum + documents.length, 0)
  const joined = { documents: new Uint32Array(length), counts: new Uint16Array(length) }
  let at = 0
  for (const { documents, counts } of parts) {
    joined.documents.set(documents, at)
    joined.counts.set(counts, at)
    at += documents.length
  }
  return joined
}
