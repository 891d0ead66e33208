import { describe, expect, it } from 'vitest'
import { LogRing } from './log-ring.js'

describe('LogRing', () => {
  it('makes lines of pieces, and hands them on', () => {
    const lines: string[] = []
    const ring = new LogRing((line) => lines.push(line))
    for (const piece of ['on', 'e\ntw', 'o\n\n', 'three']) ring.push(piece)
    expect(ring.last()).toEqual(['one', 'two', 'three'])
    expect(lines).toEqual(['one', 'two'])
    ring.end()
    expect(lines).toEqual(['one', 'two', 'three'])
  })
  it('keeps what a progress bar shows in the end', () => {
    const ring = new LogRing()
    ring.push('10%\r50%\r100%\ndone\r\n')
    expect(ring.last()).toEqual(['100%', 'done'])
  })
  it('keeps the last lines only, and bounds each', () => {
    const ring = new LogRing()
    for (let i = 0; i < 100; i++) ring.push(`${i} ${'x'.repeat(1000)}\n`)
    expect(ring.last()).toHaveLength(12)
    expect(ring.last(1000)).toHaveLength(40)
    expect(ring.last(1)[0]).toMatch(/^99 x{400,500}…$/)
    ring.push('y'.repeat(1_000_000))
    expect(ring.last(1)[0].length).toBeLessThan(600)
  })
  it('finds the line that carries a mark, whole', () => {
    const ring = new LogRing()
    ring.push(`trinity-torch-failed {"message": "${'z'.repeat(900)}"}\nmore\n`)
    expect(JSON.parse(ring.find('trinity-torch-failed ')!).message).toHaveLength(900)
    expect(ring.find('other')).toBeUndefined()
  })
})
