import { expect, it } from 'vitest'
import { columnOf, missingColumn } from './column.js'

const row = {
  prompt: [{ role: 'user', content: 'q' }],
  reward_model: { ground_truth: '7', style: 'rule' },
  'a.b': 1,
  a: { b: 2 },
  bytes: new Uint8Array([1]),
  none: null,
}

it('a key may lead into a column; a column with the whole name comes first', () => {
  expect(columnOf(row, 'reward_model.ground_truth')).toBe('7')
  expect(columnOf(row, 'prompt[0].content')).toBe('q')
  expect(columnOf(row, 'prompt[1].content')).toBeUndefined()
  expect(columnOf(row, 'a.b')).toBe(1)
  expect(columnOf(row, 'prompt')).toBe(row.prompt)
  expect(columnOf(row, 'none')).toBeNull()
})

it.each([
  '',
  '.',
  '.a',
  'a..b',
  'a.',
  'a[',
  'a[x]',
  'toString',
  'a.constructor',
  'bytes[0]',
  'none.x',
  'prompt.length',
])("'%s' names nothing", (key) => expect(columnOf(row, key)).toBeUndefined())

it('what is missing is said with the columns there are and the one that was meant', () => {
  const gsm8k = { question: 'q', answer: '7' }
  expect(missingColumn(gsm8k, 'prompt_key', 'qestion')).toMatchObject({
    code: 'task/column',
    message: "the row has no prompt: no column 'qestion'",
    hint: 'set format.prompt_key: question (columns: question, answer)',
  })
  expect(missingColumn(gsm8k, 'prompt_key', 'prompt').hint).toContain('set format.prompt_key: question')
  expect(missingColumn(gsm8k, 'response_key', 'response').hint).toContain('set format.response_key: answer')
  expect(missingColumn(row, 'response_key', 'reward_model.truth').hint).toContain('reward_model.ground_truth')
  expect(missingColumn({ prompt: null, x: 1 }, 'prompt_key', 'prompt')).toMatchObject({
    message: "the row has no prompt: the column 'prompt' is empty",
    hint: 'set format.prompt_key (columns: prompt, x)',
  })
})
