import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { keysOf } from './said.js'
import { Verbatim } from './verbatim.js'

const call = (args: unknown, id?: string) => ({ id, type: 'function', function: { name: 'add', arguments: args } })

describe('keysOf', () => {
  it('is the same for what clients make of one message', () => {
    const seen = keysOf({ content: null, tool_calls: [call('{"a": 1, "b": [2.0]}', 'c1')] })
    expect(keysOf({ content: '', tool_calls: [call('{"b":[2],"a":1}', 'c1')] })).toEqual(seen)
    expect(keysOf({ tool_calls: [call({ b: [2], a: 1 }, 'c1')] })).toEqual(seen)
    expect(
      keysOf({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toEqual(keysOf({ content: 'ab\n', tool_calls: [] }))
  })

  it('tells others apart', () => {
    const keys = [
      { content: 'a' },
      { content: 'b' },
      { content: 'a', tool_calls: [call('{}')] },
      { content: 'a', tool_calls: [call('{"a":1}')] },
      { content: 'a', tool_calls: [call('not JSON')] },
    ].map((said) => keysOf(said).at(-1))
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('Verbatim', () => {
  it('goes by ids where it knows them, else by what was called', () => {
    const verbatim = new Verbatim()
    const said = (id?: string) => ({ tool_calls: [call('{}', id)] })
    verbatim.set(said('c1'), 'first')
    verbatim.set(said('c2'), 'second')
    expect(verbatim.get(said('c1'))).toEqual(['first'])
    expect(verbatim.get(said('other'))).toEqual(['second', 'first'])
    expect(verbatim.get(said())).toEqual(['second', 'first'])
    expect(verbatim.get({ content: 'never said' })).toEqual([])
  })
})

describe('answers that read the same', () => {
  it('are told apart by where they were said', async () => {
    const thoughts = ['<think>one</think>yes', '<think>two</think>yes', 'end', 'end']
    const model = modelOf(await speaker(() => thoughts.shift()!), { reasoningParser: 'think' })
    const { create } = model.openai().chat.completions
    const user = (content: string) => ({ role: 'user', content })
    await create({ messages: [user('a')] })
    await create({ messages: [user('b')] })
    for (const asked of ['a', 'b']) {
      await create({ messages: [user(asked), { role: 'assistant', content: 'yes' }, user('and?')] })
    }
    const texts = model.toExperiences().map(({ responseText }) => responseText!.split('<|')[0])
    expect(texts).toEqual(['<think>one</think>yes', '<think>two</think>yes'])
  })
})
