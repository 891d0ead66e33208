import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatMessage } from '../model/index.js'
import { Prefixes } from './prefixes.js'

const user = (content: string): ChatMessage => ({ role: 'user', content })
const assistant = (content: string | null, more: object = {}): ChatMessage => ({ role: 'assistant', content, ...more })
const call = (id: string, args: string) => ({
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args } }],
})

describe('prefixes', () => {
  it('find the longest beginning that somebody owns', () => {
    const known = new Prefixes<string>()
    const short = [user('a'), assistant('b')]
    const long = [...short, user('c'), assistant('d')]
    known.add(short, 'short')
    known.add(long, 'long')
    expect(known.find([user('a')])).toBeUndefined()
    expect(known.find([...short, user('x')])).toBe('short')
    expect(known.find([...long, user('x'), assistant('y'), user('z')])).toBe('long')
    expect(known.find([user('A'), assistant('b')])).toBeUndefined()
    // the border between messages counts
    expect(known.find([user('ab'), assistant('')])).toBeUndefined()
  })

  it('know messages that a client rewrote', () => {
    const known = new Prefixes<number>()
    known.add([user('q'), assistant(null, call('call_1', '{"a": 1}'))], 1)
    const back = assistant('', { ...call('other', '{ "a":1 }'), name: 'model', reasoning_content: 'hm' })
    expect(known.find([user('q'), back, { role: 'tool', content: '3', tool_call_id: 'other' }])).toBe(1)
    known.add([user('p'), assistant('Be'), assistant('gun')], 2)
    expect(known.find([user('p'), assistant('Begun'), user('?')])).toBe(2)
  })

  it('let owners of the same take turns, and forget', () => {
    const known = new Prefixes<number>()
    const same = [user('q'), assistant('a')]
    const prefix = known.add(same, 1)!
    known.add(same, 2)
    expect([known.find(same), known.find(same), known.find(same)]).toEqual([1, 2, 1])
    known.forget(prefix, 1)
    expect([known.find(same), known.find(same)]).toEqual([2, 2])
    known.forget(prefix, 2)
    known.forget(prefix, 2)
    expect([known.find(same), known.size]).toEqual([undefined, 0])
    expect(known.add([user('q')], 1)).toBeUndefined()
  })

  it('tell conversations apart', () => {
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool'),
      content: fc.string({ maxLength: 3 }),
    })
    const talk = fc.array(message, { maxLength: 5 }).map((all) => [user('q'), ...all, user('.'), assistant('end')])
    fc.assert(
      fc.property(talk, talk, (a, b) => {
        const known = new Prefixes<string>()
        known.add(a, 'a')
        expect(known.find([...a, user('more')])).toBe('a')
        const texts = (all: ChatMessage[]) => all.map(({ role, content }) => [role, String(content).trim()])
        // turns of the assistant that follow each other are one
        const plain = (all: ChatMessage[]) =>
          !all.some(({ role }, i) => role === 'assistant' && all[i - 1]?.role === role)
        fc.pre(plain(a) && plain(b) && JSON.stringify(texts(a)) !== JSON.stringify(texts(b)))
        fc.pre(JSON.stringify(texts(b).slice(0, a.length)) !== JSON.stringify(texts(a)))
        expect(known.find(b)).toBeUndefined()
      }),
    )
  })
})
