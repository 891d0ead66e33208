import { expect, it } from 'vitest'
import { jsonIn, parseJsonText } from './json-text.js'

const nested = (levels: number, open = '[', close = ']') => `${open.repeat(levels)}1${close.repeat(levels)}`

it('reads JSON, and nothing else', () => {
  expect(['{"a": [1]}', '0', 'null', '', '{', 'so'].map(jsonIn)).toEqual([
    { a: [1] },
    0,
    null,
    undefined,
    undefined,
    undefined,
  ])
})

it('refuses nesting on which recursive code exhausts the stack', () => {
  expect(JSON.stringify(parseJsonText(nested(1000)))).toBe(nested(1000))
  expect(() => parseJsonText(nested(1001))).toThrow('nested deeper than 1000 levels')
  expect(() => parseJsonText(nested(1001, '{"a":', '}'))).toThrow('nested deeper than 1000 levels')
  expect(jsonIn(nested(20_000))).toBeUndefined()
})

it('does not count brackets in strings, or side by side', () => {
  const texts = [`"${'['.repeat(3000)}"`, `{"a\\"${'{'.repeat(3000)}": "\\\\"}`, `[${'[],'.repeat(3000)}0]`]
  for (const text of texts) expect(parseJsonText(text)).toEqual(JSON.parse(text))
})
