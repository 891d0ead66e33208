import { describe, expect, it } from 'vitest'
import { toolCallReward } from './tool-call.js'

const weather = { name: 'weather', arguments: { city: 'Paris', unit: 'C' } }
const time = { name: 'time', arguments: {} }
const call = (content: unknown) => `<think>hm</think><tool_call>${JSON.stringify(content)}</tool_call>`

describe('toolCallReward', () => {
  it.each([
    ['the call', call(weather), [weather], 1],
    ['a list of one', call([weather]), weather, 1],
    ['keys in another order', call({ arguments: { unit: 'C', city: 'Paris' }, name: 'weather' }), [weather], 1],
    ['calls in another order', call([time, weather]), [weather, time], 1],
    ['JSON of the expected', call(weather), JSON.stringify([weather]), 1],
    ['JSON inside JSON', call(JSON.stringify([weather])), [weather], 1],
    ['none expected, none made', '<think>hm</think> No.', [], 1],
    ['another argument', call({ ...weather, arguments: { city: 'Rome', unit: 'C' } }), [weather], 0],
    [
      'a number beyond doubles',
      call({ ...time, arguments: { a: 0 } }).replace('0', '1e999'),
      [{ ...time, arguments: { a: null } }],
      0,
    ],
    [
      'arguments nested deeper than is read',
      call({ ...time, arguments: 0 }).replace('0', `${'['.repeat(9000)}${']'.repeat(9000)}`),
      [time],
      0,
    ],
    ['too many', call([weather, weather]), [weather], 0],
    ['one of two', call([weather, weather]), [weather, time], 0],
    ['no thought', `<tool_call>${JSON.stringify(weather)}</tool_call>`, [weather], 0],
    ['two thoughts', `<think></think>${call(weather)}`, [weather], 0],
    ['thought afterward', `<tool_call>${JSON.stringify(weather)}</tool_call><think></think>`, [weather], 0],
    ['broken JSON', '<think></think><tool_call>{</tool_call>', [weather], 0],
    ['no arguments', call({ name: 'time' }), [time], 0],
  ])('%s', (_name, response, expected, reward) => {
    expect(toolCallReward(response, expected)).toBe(reward)
  })
})
