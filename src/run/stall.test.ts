import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { watchStalls } from './stall.js'

it('says once who waits for whom, and only of long waits', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] })
  try {
    const notes: string[] = []
    let reasons: string[] = ['a short one']
    const watch = watchStalls({ reasons: () => reasons, seconds: 5, note: (text) => void notes.push(text) })
    const pass = async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        vi.advanceTimersByTime(1000)
        await sleep(0)
      }
    }
    await pass(3)
    // a clock that is set is no wait
    vi.setSystemTime(Date.now() + 3_600_000)
    await pass(1)
    expect(notes).toEqual([])
    reasons = ['the explorer waits for weights']
    await pass(20)
    expect(notes).toEqual(['the explorer waits for weights (for 5 s)'])
    reasons = []
    await pass(2)
    reasons = ['the explorer waits for weights']
    await pass(10)
    expect(notes).toHaveLength(2)
    watch.close()
    reasons = ['another']
    await pass(20)
    expect(notes).toHaveLength(2)
  } finally {
    vi.useRealTimers()
  }
})
