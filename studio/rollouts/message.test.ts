import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/studio/api.js'
import { messagesOf, partsOf } from './message.js'

describe('parts of a message', () => {
  it('are thought, text and calls', () => {
    const call = { type: 'function', function: { name: 'look', arguments: '{"at":"box"}' } }
    expect(partsOf({ role: 'assistant', content: '<think>hm</think>\nI look.', tool_calls: [call] })).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'text', text: 'I look.' },
      { kind: 'call', name: 'look', text: '{\n  "at": "box"\n}' },
    ])
  })

  it('show broken arguments as they were written', () => {
    expect(partsOf({ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"a":' } }] })).toEqual([
      { kind: 'call', name: 'f', text: '{"a":' },
    ])
  })

  it('may be of several kinds', () => {
    const content: Json[] = [
      { type: 'text', text: 'what is this?' },
      { type: 'image_url', image_url: { url: 'x' } },
    ]
    expect(partsOf({ role: 'user', content }).map((part) => part.kind)).toEqual(['text', 'other'])
  })

  it('are none for an empty message', () => expect(partsOf({ role: 'assistant', content: null })).toEqual([]))
})

describe('a conversation', () => {
  it('is prompt and answer where only texts are on record', () => {
    expect(messagesOf({ promptText: 'p', responseText: 'r' }).map(({ role }) => role)).toEqual(['prompt', 'assistant'])
  })
  it('gets its answer where the messages end before it', () => {
    const messages = [{ role: 'user', content: 'q' }]
    expect(messagesOf({ messages, responseText: 'r' })).toHaveLength(2)
    expect(
      messagesOf({ messages: [...messages, { role: 'assistant', content: 'r' }], responseText: 'r' }),
    ).toHaveLength(2)
  })
})
