import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { listenToSignals, type StopSignals } from './signals.js'
import { Stop } from './stop.js'

let stop: Stop
let told: string[]
let exits: unknown[]
let signals: StopSignals
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  stop = new Stop()
  told = []
  exits = []
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code)
    return undefined as never
  })
  signals = listenToSignals(stop, (text) => void told.push(text))
})
afterEach(() => {
  signals.close()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

it('Ctrl-C once finishes the step, twice stops now, three times ends the process', () => {
  process.emit('SIGINT')
  expect([stop.gentle.aborted, stop.now.aborted, signals.code]).toEqual([true, false, 130])
  expect(told[0]).toContain('Ctrl-C again')
  process.emit('SIGINT')
  expect([stop.now.aborted, exits]).toEqual([true, []])
  process.emit('SIGINT')
  expect(exits).toEqual([130])
})

it('nothing holds the process up after it was forced', () => {
  process.emit('SIGINT')
  process.emit('SIGINT')
  vi.advanceTimersByTime(60_000)
  expect(exits).toEqual([130])
})

it('SIGTERM finishes the step, but not for ever', () => {
  process.emit('SIGTERM')
  expect([stop.gentle.aborted, stop.now.aborted, signals.code]).toEqual([true, false, 143])
  vi.advanceTimersByTime(24_000)
  expect(stop.now.aborted).toBe(false)
  vi.advanceTimersByTime(2000)
  expect([stop.now.aborted, exits]).toEqual([true, []])
  vi.advanceTimersByTime(11_000)
  expect(exits).toEqual([143])
})

it('hears nothing more once closed', () => {
  process.emit('SIGTERM')
  signals.close()
  vi.advanceTimersByTime(100_000)
  expect([stop.now.aborted, exits]).toEqual([false, []])
  const listeners = process.listenerCount('SIGINT')
  listenToSignals(stop, () => {}).close()
  expect(process.listenerCount('SIGINT')).toBe(listeners)
})

it('a failure outside of every call is saved like SIGTERM, and ends with 1', () => {
  signals.fail(new Error('a stray one'))
  expect([stop.gentle.aborted, stop.now.aborted, signals.code]).toEqual([true, false, 1])
  expect(stop.failure).toMatchObject({ message: 'a stray one' })
  expect(told[0]).toContain('a stray one')
  vi.advanceTimersByTime(26_000)
  expect([stop.now.aborted, exits]).toEqual([true, []])
  vi.advanceTimersByTime(11_000)
  expect(exits).toEqual([1])
})
