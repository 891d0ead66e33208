import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catalogueInMemory } from '../catalogue/build.js'
import { Catalogue } from '../catalogue/catalogue.js'
import { findFiles } from '../catalogue/files.js'
import { writeCatalogue } from '../catalogue.fixture.js'
import { analyze } from './analyze.js'
import { Searcher } from './search.js'
import { words } from './words.js'

interface Golden {
  words: [text: string, words: string[]][]
  terms: [text: string, terms: string[]][]
  hits: [query: string, hits: [asin: string, score: number][]][]
}
// Written by Lucene itself; golden.slow.test.ts asks it again.
const golden: Golden = JSON.parse(readFileSync(new URL('./golden-lucene.json', import.meta.url), 'utf8'))

describe('words', () => {
  it('are those of the standard tokenizer', () => {
    expect(golden.words.map(([text]) => [text, words(text)])).toEqual(golden.words)
  })

  it('stand in the text in their order, and none is longer than Lucene takes', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom(...'a1_.\'",:#\u200d\ufe0f☀字'), fc.string({ unit: 'binary' })),
    })
    fc.assert(
      fc.property(text, (given) => {
        let at = 0
        for (const word of words(given)) {
          expect(word.length).toBeLessThanOrEqual(255)
          at = given.indexOf(word, at)
          expect(at).toBeGreaterThanOrEqual(0)
          at += word.length
        }
      }),
    )
  })

  it.each(['_', 'a.', "'", '\u200d', '☀\u200d', '#\u0301', 'ไ\u0e31', '\u{1F1E6}', 'א"'])(
    'take time in proportion to the text: %j',
    (unit) => {
      const begun = performance.now()
      words(unit.repeat(50_000))
      expect(performance.now() - begun).toBeLessThan(5000)
    },
  )
})

it("terms are those of Lucene's English analyzer", () => {
  expect(golden.terms.map(([text]) => [text, analyze(text)])).toEqual(golden.terms)
})

it("products are found in Lucene's order, with its scores to the last bit", async () => {
  const files = await findFiles(writeCatalogue(), null)
  const catalogue = new Catalogue(await catalogueInMemory(files, { products: null }))
  const searcher = new Searcher(catalogue)
  for (const [query, hits] of golden.hits) {
    const found = searcher.search(query, 50).map(({ document, score }) => [catalogue.product(document).asin, score])
    expect(found).toEqual(hits.map(([asin, score]) => [asin, Math.fround(score)]))
  }
  catalogue.close()
})
