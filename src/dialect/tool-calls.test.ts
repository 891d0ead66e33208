import { expect, it } from 'vitest'
import { parseToolCalls } from './tool-calls.js'

it('gives the calls in a text, and the rest of it', () => {
  const text = 'so: <tool_call>{"name": "look", "arguments": {"at": "x"}}</tool_call>'
  expect(parseToolCalls(text, (i) => `c${i}`)).toEqual({
    content: 'so:',
    calls: [{ id: 'c0', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } }],
  })
  const nameless = '<tool_call>{"name": "", "arguments": {}}</tool_call>'
  expect(parseToolCalls(nameless, (i) => `c${i}`)).toEqual({ content: nameless, calls: [] })
  expect(parseToolCalls('none', (i) => `c${i}`)).toEqual({ content: 'none', calls: [] })
})
