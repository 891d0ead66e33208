import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../base/random/index.js'
import { characterTokenizer } from '../model/character-tokenizer.js'
import { Tokenizer } from '../model/index.js'
import { constraintFor } from './constraints.js'
import type { Format } from './format.js'

/** A tokenizer that knows these characters, and these words as whole tokens. */
function knows(characters: string, words: readonly string[] = []): Tokenizer {
  const special = ['<|end|>', '<|unk|>']
  const tokenizer = characterTokenizer([...characters, ...words], special, '<|unk|>')
  return new Tokenizer({ path: 'few', tokenizer, specialTokens: { eos_token: '<|end|>', unk_token: '<|unk|>' } })
}

/** What a model writes that draws at random from what is allowed; undefined: it goes on and on. */
function drawn(tokenizer: Tokenizer, format: Format, random: Pcg64): string | undefined {
  const allowed = constraintFor(tokenizer, tokenizer, format).follow()
  const tokens: number[] = []
  while (tokens.length < 500) {
    const mask = allowed(0, tokens)
    const ids = Array.from({ length: tokenizer.vocabSize }, (_, id) => id).filter(
      (id) => (mask[id >> 5] >>> (id & 31)) & 1,
    )
    const token = ids[random.below(ids.length - 1)]
    if (token === tokenizer.eosId) return tokenizer.decode(tokens)
    tokens.push(token)
  }
  return undefined
}

describe('a vocabulary without all bytes', () => {
  it('is told at once which ones every answer needs', () => {
    const refusal = (characters: string, format: Format) => () =>
      constraintFor(knows(characters), { vocabSize: 99 }, format)
    const schema = { type: 'object', properties: { ab: { type: 'integer' } }, required: ['ab'] }
    expect(refusal('0123456789+', { type: 'json_object' })).toThrow(
      expect.objectContaining({
        code: 'grammar/vocabulary',
        message: `every answer in this format needs '{' and '}', which no token of this vocabulary writes`,
        hint: expect.stringContaining('has all bytes'),
      }),
    )
    expect(refusal('{}"ab', { type: 'json_schema', schema })).toThrow(/needs ':', which/)
    expect(refusal('{}":ab', { type: 'json_schema', schema })).toThrow(/needs characters such as '0', which/)
    expect(refusal('ab', { type: 'choice', choices: ['é', 'ü'] })).toThrow(/needs characters that no token/)
    expect(refusal('ab', { type: 'regex', pattern: 'a{3}c' })).toThrow(/needs 'c', which/)
  })

  it('is not blamed for a format that nothing fits', () => {
    const none = () => constraintFor(knows('ab'), { vocabSize: 9 }, { type: 'json_schema', schema: false })
    expect(none).toThrow('no value fits the schema')
  })

  it('writes what it can, and is never led to where it could not go on', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { enum: ['b', 'bad', 'bcd', 'aé'] },
        bad: { type: 'string' },
        ab: { anyOf: [{ type: 'number' }, { type: 'string', maxLength: 3 }] },
        b: { type: 'integer', multipleOf: 7 },
      },
      required: ['a'],
      additionalProperties: { type: 'boolean' },
    }
    const tokenizer = knows('{}":, ab7\\u')
    const random = new Pcg64(5)
    const written = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const text = drawn(tokenizer, { type: 'json_schema', schema }, random)
      if (text === undefined) continue
      const { a, ...rest } = JSON.parse(text)
      expect(a).toBe('b')
      for (const name of Object.keys(rest)) written.add(name)
    }
    expect([...written].sort()).toEqual(['ab', 'b'])
  })

  it('may have bytes that stand only inside longer tokens', () => {
    const tokenizer = knows('1+', ['<a>', '</a>'])
    const format = { type: 'regex', pattern: '<a>[0-9+]{1,3}</a>' } as const
    const random = new Pcg64(1)
    for (let i = 0; i < 20; i++) expect(drawn(tokenizer, format, random)).toMatch(/^<a>[1+]{1,3}<\/a>$/)
    const apart = { type: 'regex', pattern: '1?<b?a>' } as const
    expect(drawn(tokenizer, apart, random)).toMatch(/^1?<a>$/)
    const stuck = { type: 'regex', pattern: '1[<]1' } as const
    expect(() => drawn(tokenizer, stuck, random)).toThrow(
      "the format needs '<' here, and no token of this vocabulary writes it",
    )
  })
})
