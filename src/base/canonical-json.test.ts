import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.js'

it('is JSON of the same value, whatever the order of its keys', () => {
  expect(canonicalJson({ b: [1.0, { d: null, c: 'x' }], a: undefined })).toBe('{"a":null,"b":[1,{"c":"x","d":null}]}')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(turned)).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

it('tells numbers beyond the range of doubles from null and from each other', () => {
  const texts = ['{"a":1e999}', '{"a":-1e999}', '{"a":null}'].map((json) => canonicalJson(JSON.parse(json)))
  expect(new Set(texts).size).toBe(3)
})
