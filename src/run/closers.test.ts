import { describe, expect, it } from 'vitest'
import { Closers, withClosers } from './closers.js'

const failing = (text: string) => () => {
  throw new Error(text)
}

describe('closers', () => {
  it('close in the reverse order of opening, all of them, and throw the first failure', async () => {
    const seen: string[] = []
    const closers = new Closers()
    const thing = { close: async () => void seen.push('first') }
    expect(closers.add(thing)).toBe(thing)
    closers.defer(failing('of the second'))
    closers.defer(() => void seen.push('third'))
    closers.defer(failing('of the fourth'))
    await expect(closers.close()).rejects.toThrow('of the fourth')
    expect(seen).toEqual(['third', 'first'])
    await closers.close()
    expect(seen).toHaveLength(2)
  })

  it('a failure of the work is what counts', async () => {
    const seen: string[] = []
    const failed = withClosers(async (closers) => {
      closers.defer(() => void seen.push('closed'))
      closers.defer(failing('of closing'))
      throw new Error('of the work')
    })
    await expect(failed).rejects.toThrow('of the work')
    expect(seen).toEqual(['closed'])
  })

  it('a failure of closing is not swallowed after work that went well', async () => {
    await expect(withClosers(async (closers) => closers.defer(failing('of closing')))).rejects.toThrow('of closing')
    expect(await withClosers(async () => 7)).toBe(7)
  })
})
