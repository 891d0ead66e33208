import { expect, it } from 'vitest'
import { floatText, jsonDumps, jsonText, listText } from './python-text.js'

it('writes floats as Python does', () => {
  expect([0, 1, 100, 877.8, 0.1 + 0.2, 2 / 3].map(floatText)).toEqual([
    ...['0.0', '1.0', '100.0', '877.8', '0.30000000000000004', '0.6666666666666666'],
  ])
})

it('writes lists of texts as Python does', () => {
  // print(["a", "it's", 'say "x"', 'both \'"', "tab\tnew\nline", "\x07\xa0\u200b", "caf\u00e9 \U0001f44d\\"])
  const texts = ['a', "it's", 'say "x"', 'both \'"', 'tab\tnew\nline', '\x07\xa0\u200b', 'café 👍\\']
  expect(listText(texts)).toBe(
    `['a', "it's", 'say "x"', 'both \\'"', 'tab\\tnew\\nline', '\\x07\\xa0\\u200b', 'café 👍\\\\']`,
  )
  expect(listText([])).toBe('[]')
})

it('writes objects of texts as json.dumps does', () => {
  expect(
    jsonText([
      ['size', '7"'],
      ['color', 'grün 👍'],
    ]),
  ).toBe('{"size": "7\\"", "color": "gr\\u00fcn \\ud83d\\udc4d"}')
})

it('writes JSON as Python does', () => {
  const value = { a: [1, 'é😀\n"', null, true], b: {}, c: [] }
  expect(jsonDumps(value)).toBe('{"a": [1, "\\u00e9\\ud83d\\ude00\\n\\"", null, true], "b": {}, "c": []}')
})
