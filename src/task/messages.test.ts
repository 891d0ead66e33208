import { describe, expect, it } from 'vitest'
import { messagesOf, promptMessages, textOf, toolsOf } from './messages.js'

describe('messages of a row', () => {
  const plain = [{ role: 'user', content: 'a' }]

  it('are a list or JSON, by the names of either convention', () => {
    expect(messagesOf(plain, 'm', {})).toEqual(plain)
    expect(messagesOf(JSON.stringify(plain), 'm', {})).toEqual(plain)
    const shared = [
      { from: 'human', value: 'a' },
      { from: 'gpt', value: 'b' },
    ]
    expect(messagesOf(shared, 'm', {})).toEqual([...plain, { role: 'assistant', content: 'b' }])
  })

  it('parts that are all text become the text; others stay', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', value: 'b' },
    ]
    expect(messagesOf([{ role: 'user', content: parts }], 'm', {})[0].content).toBe('ab')
    const image = [{ type: 'image', image: 'x' }]
    expect(messagesOf([{ role: 'user', content: image }], 'm', {})[0].content).toEqual(image)
  })

  it.each([
    [undefined, /no column 'm'/],
    [[], /a list of messages, not an empty list/],
    ['{', /not JSON/],
    [['x'], /m\[0\] is not a message but a string/],
    [[{ content: 'x' }], /m\[0\] has no role/],
  ])('%j is an error of the row', (value, message) => {
    expect(() => messagesOf(value, 'm', { other: 1 })).toThrow(message)
  })
})

describe('plain columns', () => {
  it('are text, whatever type they have, and missing ones say what there is', () => {
    const row = { a: 7, b: new TextEncoder().encode('ü'), c: { x: 1 } }
    expect([textOf(row, 'a', 'prompt'), textOf(row, 'b', 'prompt')]).toEqual(['7', 'ü'])
    expect(() => textOf(row, 'c', 'prompt')).toThrow(/as text, not an object/)
    expect(() => textOf(row, 'z', 'prompt')).toThrow(/no prompt: no column 'z'/)
    expect(() => textOf({ z: null }, 'z', 'prompt')).toThrow(/no prompt: the column 'z' is empty/)
  })

  it('a system prompt of the row wins over that of the set', () => {
    const format = { prompt_key: 'q', system_prompt_key: 's', system_prompt: 'of the set' }
    const system = (row: Record<string, unknown>) => promptMessages({ q: 'x', ...row }, format as never)[0].content
    expect([system({ s: 'of the row' }), system({})]).toEqual(['of the row', 'of the set'])
  })

  it('tools are a list, JSON, or none', () => {
    expect(toolsOf({ t: '[{"name": "f"}]' }, 't')).toEqual([{ name: 'f' }])
    expect([toolsOf({}, 't'), toolsOf({ t: '' }, 't'), toolsOf({ t: [] }, 't')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(() => toolsOf({ t: '{}' }, 't')).toThrow(/a list of tools, not an object/)
  })
})
