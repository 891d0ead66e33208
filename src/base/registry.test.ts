import { describe, expect, it } from 'vitest'
import { TrinityError } from './error.js'
import { Registry } from './registry.js'

describe('Registry', () => {
  const make = () => new Registry<number>('selector', { sequential: 1, shuffle: 2 })

  it('returns what was added and lists names in order', () => {
    const registry = make().add('mine', 3)
    expect(registry.get('mine')).toBe(3)
    expect(registry.names()).toEqual(['sequential', 'shuffle', 'mine'])
  })

  it('suggests the nearest name', () => {
    const failure = capture(() => make().get('shufle'))
    expect(failure.code).toBe('registry/unknown')
    expect(failure.message).toBe("unknown selector 'shufle'")
    expect(failure.hint).toContain("did you mean 'shuffle'?")
  })

  it('takes a class of Python by its last name', () => {
    expect(make().get('trinity.buffer.selector.Shuffle')).toBe(2)
    expect(make().has('my.own.Sequential')).toBe(true)
    const failure = capture(() => make().get('my.own.Shufle'))
    expect(failure.message).toBe("unknown selector 'my.own.Shufle'")
    expect(failure.hint).toMatch(/did you mean 'shuffle'\?.*the path of a Python class.*'shufle'/)
  })

  it('replaces only when asked to', () => {
    const registry = make()
    expect(capture(() => registry.add('shuffle', 9)).code).toBe('registry/duplicate')
    expect(registry.get('shuffle')).toBe(2)
    expect(registry.add('shuffle', 9, { replace: true }).get('shuffle')).toBe(9)
  })

  it('does not know names that only objects have', () => {
    expect(make().find('constructor')).toBeUndefined()
    expect(make().has('__proto__')).toBe(false)
  })
})

function capture(action: () => unknown): TrinityError {
  try {
    action()
  } catch (error) {
    if (error instanceof TrinityError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
