import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyze } from './analyze.js'
import { Bm25, decodeLength, encodeLength } from './bm25.js'
import { PostingsWriter, readPostings } from './postings.js'
import { Searcher, type SearchIndex } from './search.js'

/** An index of a list of texts; ties go to the later one. */
function indexOf(texts: readonly string[]): SearchIndex {
  const writer = new PostingsWriter()
  const terms = texts.map(analyze)
  for (const [i, one] of terms.entries()) writer.add(i, one)
  const lists = new Map(
    Array.from(writer.entries(), ([term, bytes]) => [term, readPostings([bytes.buffer as ArrayBuffer])]),
  )
  return {
    postings: (term) => lists.get(term) ?? readPostings([]),
    lengths: Uint8Array.from(terms, (one) => encodeLength(one.length)),
    ranks: Uint32Array.from(texts, (_, i) => texts.length - i),
    documents: terms.filter((one) => one.length > 0).length,
    terms: terms.reduce((sum, one) => sum + one.length, 0),
  }
}

/** Every document scored, without any bound. */
function plainly(texts: readonly string[], query: string, most: number) {
  const index = indexOf(texts)
  const bm25 = new Bm25(index)
  const asked = analyze(query)
  const all = texts.map((text, document) => {
    const terms = analyze(text)
    let sum = 0
    for (const term of new Set(asked)) {
      const times = terms.filter((one) => one === term).length
      const weight = bm25.weight(index.postings(term).documents.length, asked.filter((one) => one === term).length)
      if (times > 0) sum += bm25.score(weight, times, index.lengths[document])
    }
    return { document, score: Math.fround(sum) }
  })
  const found = all.filter(({ score }) => score > 0)
  return found.sort((a, b) => b.score - a.score || b.document - a.document).slice(0, most)
}

describe('Searcher', () => {
  it('finds what scoring everything finds, although it does not score everything', () => {
    const word = fc.constantFrom(...'red blue lamp lamps table shoe shoes free oil tea green old new'.split(' '))
    const text = fc.array(word, { maxLength: 12 }).map((list) => list.join(' '))
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 200 }),
        text,
        fc.integer({ min: 1, max: 20 }),
        (texts, query, most) => {
          const found = new Searcher(indexOf(texts)).search(query, most)
          const expected = plainly(texts, query, most)
          expect(found.map(({ score }) => score)).toEqual(expected.map(({ score }) => score))
          expect(found.map(({ document }) => document)).toEqual(expected.map(({ document }) => document))
        },
      ),
    )
  })

  it('goes over many windows of documents', () => {
    const texts = Array.from(
      { length: 10_000 },
      (_, i) => `thing ${i % 7 === 0 ? 'rare' : 'plain'} ${i % 2500 === 2499 ? 'gem' : ''}`,
    )
    const found = new Searcher(indexOf(texts)).search('rare gem thing', 50)
    expect(found).toEqual(plainly(texts, 'rare gem thing', 50))
    expect(found[0].document % 2500).toBe(2499)
  })

  it('a query without words, or with unknown ones, finds nothing', () => {
    const searcher = new Searcher(indexOf(['a lamp', 'the shoe']))
    for (const query of ['', 'the of', '!!!', 'kettle']) expect(searcher.search(query, 50)).toEqual([])
    expect(new Searcher(indexOf([''])).search('lamp', 50)).toEqual([])
  })
})

it('lengths are exact up to 39 and never wrong by more than an eighth', () => {
  for (let length = 0; length < 40; length++) expect(decodeLength(encodeLength(length))).toBe(length)
  for (const length of [40, 41, 100, 4711, 1_000_000]) {
    const kept = decodeLength(encodeLength(length))
    expect(kept).toBeLessThanOrEqual(length)
    expect(kept).toBeGreaterThan((length * 7) / 8)
  }
})
