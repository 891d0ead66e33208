import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { linkSignals, manyListeners } from './link-signals.js'

describe('linked signals', () => {
  it('fire with the first of several, for its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const { signal } = linkSignals([one.signal, undefined, other.signal])
    expect(signal.aborted).toBe(false)
    other.abort('late')
    one.abort('later')
    expect(signal.reason).toBe('late')
    expect(linkSignals([one.signal]).signal.reason).toBe('later')
  })

  it('leave nothing behind on a signal that lives on', () => {
    const { signal } = new AbortController()
    const links = Array.from({ length: 5 }, () => linkSignals([signal]))
    expect(getEventListeners(signal, 'abort')).toHaveLength(5)
    for (const { release } of links) release()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('of many calls are no leak', async () => {
    const warnings: string[] = []
    const warned = ({ name }: Error) => warnings.push(name)
    process.on('warning', warned)
    const { signal } = manyListeners(new AbortController())
    const inside = linkSignals([signal]).signal
    for (let i = 0; i < 40; i++) linkSignals([signal, inside])
    await new Promise(setImmediate)
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })
})
