import { expect, it } from 'vitest'
import { preTokenizer, preTokenizerName } from './pre-tokenizer.js'

it.each(['gpt-2', 'smollm', 'qwen2', 'llama-bpe', 'dbrx', 'gpt-4o'])('%s is known by how it splits', (name) => {
  const { ignore_merges, ...parts } = preTokenizer(name, 'x')
  const tokenizer = { ...parts, model: { ignore_merges, merges: ['a b'] } }
  expect(preTokenizerName(tokenizer, 'x')).toBe(name)
  expect(() => preTokenizerName({ ...tokenizer, normalizer: { type: 'NFD' } }, 'x')).toThrow('no name for')
})

it('the words of gpt-4o', () => {
  const json = JSON.stringify(preTokenizer('gpt-4o', 'x').pre_tokenizer)
  const source = JSON.parse(json).pretokenizers[0].pattern.Regex.replaceAll(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "(?:'[sS]|'[tT])",
  )
  expect("HelloWorld it's 12345\n\n  x/".match(new RegExp(source, 'gu'))).toEqual([
    ...['Hello', 'World', " it's", ' ', '123', '45', '\n\n', ' ', ' x', '/'],
  ])
})
