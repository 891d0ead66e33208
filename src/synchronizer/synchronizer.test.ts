import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SyncSchedule } from './schedule.js'
import { Synchronizer, type SynchronizerParts } from './synchronizer.js'

const schedule = (change: Partial<SyncSchedule> = {}): SyncSchedule => ({
  sync_style: 'fixed',
  explorer_sync_interval: 1,
  trainer_sync_interval: 1,
  sync_offset: 0,
  ...change,
})

/** An explorer and a trainer that take random time, joined by a queue of steps; tells which version made which step. */
async function race(options: {
  schedule: SyncSchedule
  steps: number
  delay: () => number
  /** Experiences of an explorer step, and needed by a training step. */
  made?: number
  needed?: number
}): Promise<{ versions: number[]; notes: string[]; trained: number; last: number }> {
  const { made = 1, needed = 1 } = options
  const signal = new AbortController().signal
  const versions: number[] = []
  const notes: string[] = []
  let ready = 0
  let finished = false
  let trained = 0
  const parts: SynchronizerParts = {
    schedule: options.schedule,
    timeoutMs: 2000,
    transfer: async () => void (await sleep(options.delay())),
    starved: async () => ready < needed,
    blocked: async () => false,
    note: (text) => void notes.push(text),
  }
  const sync = new Synchronizer(parts)
  const explorer = async () => {
    for (let step = 1; step <= options.steps; step++) {
      versions.push(sync.version)
      await sleep(options.delay())
      ready += made
      await sync.explorerAfterStep(step, signal)
    }
    finished = true
    await sync.explorerEnded(signal)
  }
  const trainer = async () => {
    for (;;) {
      const arrived = new AbortController()
      const waits = sync.trainerWaits(arrived.signal)
      while (ready < needed && !finished) await sleep(1)
      arrived.abort()
      await waits
      if (ready < needed) break
      ready -= needed
      await sleep(options.delay())
      await sync.trainerAfterStep(++trained, signal)
    }
    await sync.trainerEnded(trained, signal)
  }
  await Promise.all([explorer(), trainer()])
  return { versions, notes, trained, last: sync.version }
}

describe('fixed', () => {
  it('makes step n with the weights of training step n − 1', async () => {
    const { versions, trained, last } = await race({ schedule: schedule(), steps: 5, delay: () => 1 })
    expect(versions).toEqual([0, 1, 2, 3, 4])
    expect(trained).toBe(5)
    expect(last).toBe(5)
  })

  it('keeps to interval and offset however fast the sides are', async () => {
    const random = fc.infiniteStream(fc.integer({ min: 0, max: 6 }))
    await fc.assert(
      fc.asyncProperty(random, fc.integer({ min: 1, max: 3 }), fc.nat(2), async (delays, interval, offset) => {
        const set = schedule({ explorer_sync_interval: interval, trainer_sync_interval: interval, sync_offset: offset })
        const { versions, notes } = await race({ schedule: set, steps: 8, delay: () => delays.next().value })
        const expected = Array.from(
          { length: 8 },
          (_, i) => Math.max(0, Math.floor((i - offset) / interval)) * interval,
        )
        expect(versions).toEqual(expected)
        expect(notes).toEqual([])
      }),
      { numRuns: 12 },
    )
  })

  it('does not stand still when steps make too few experiences', async () => {
    const { notes, trained, versions } = await race({ schedule: schedule(), steps: 6, delay: () => 1, needed: 2 })
    expect(trained).toBe(3)
    expect(versions).toEqual([0, 0, 1, 1, 2, 2])
    expect(notes[0]).toContain('train_batch_size')
  }, 10_000)
})

describe('the other styles', () => {
  it('explorer_driven gives what there is when the explorer asks', async () => {
    const set = schedule({ sync_style: 'explorer_driven', explorer_sync_interval: 2 })
    const { versions, last } = await race({ schedule: set, steps: 6, delay: () => 2 })
    expect(versions.slice(0, 2)).toEqual([0, 0])
    expect([...versions].sort((a, b) => a - b)).toEqual(versions)
    expect(versions[5]).toBeGreaterThan(0)
    expect(last).toBe(6)
  })

  it('trainer_driven and fully_async never go back and end with the last weights', async () => {
    for (const sync_style of ['trainer_driven', 'fully_async'] as const) {
      const { versions, last } = await race({ schedule: schedule({ sync_style }), steps: 6, delay: () => 2 })
      expect([...versions].sort((a, b) => a - b)).toEqual(versions)
      expect(last).toBe(6)
    }
  })
})

describe('a wait', () => {
  const parts = (timeoutMs: number): SynchronizerParts => ({
    schedule: schedule(),
    timeoutMs,
    transfer: async () => {},
    starved: async () => false,
    blocked: async () => false,
    note: () => {},
  })

  it('ends at the deadline and says who waited for what', async () => {
    const sync = new Synchronizer(parts(20))
    const waiting = sync.explorerAfterStep(1, new AbortController().signal)
    expect(sync.waiting()).toEqual(['explorer step 1 waits for weights of the trainer'])
    await expect(waiting).rejects.toMatchObject({ code: 'sync/timeout' })
    expect(sync.waiting()).toEqual([])
  })

  it('ends with an abort', async () => {
    const control = new AbortController()
    const waiting = new Synchronizer(parts(1e12)).trainerAfterStep(1, control.signal)
    control.abort(new Error('stop'))
    await expect(waiting).rejects.toThrow('stop')
  })

  it('is not repeated for a sync point that was answered before a restart', async () => {
    const sync = new Synchronizer(parts(20), { version: 4, answeredAt: 5, offered: 4 }, 4)
    await sync.explorerAfterStep(5, new AbortController().signal)
    expect(sync.state()).toEqual({ version: 4, answeredAt: 5, offered: 4 })
  })
})
