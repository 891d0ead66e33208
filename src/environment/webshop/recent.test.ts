import { expect, it, vi } from 'vitest'
import { Recent } from './recent.js'

it('keeps what was used last within its budget, and always what was asked for', () => {
  const make = vi.fn((key: string) => () => key.repeat(3))
  const recent = new Recent<string, string>(6, (value) => value.length)
  const get = (key: string) => recent.get(key, make(key))
  expect([get('a'), get('b'), get('a'), get('c')]).toEqual(['aaa', 'bbb', 'aaa', 'ccc'])
  const again = vi.fn(() => 'new')
  expect([recent.get('a', again), recent.get('c', again), recent.get('b', again)]).toEqual(['aaa', 'ccc', 'new'])
  expect(recent.get('long', () => 'x'.repeat(100))).toHaveLength(100)
  expect(recent.get('long', again)).toHaveLength(100)
})
