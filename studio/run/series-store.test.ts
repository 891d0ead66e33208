import { effect } from '@preact/signals'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { MetricsRow } from '../../src/studio/api.js'
import { SeriesStore } from './series-store.js'

const hear = vi.hoisted(() => ({ rows: (_: string, __: readonly MetricsRow[]) => {} }))
const ask = vi.hoisted(() => vi.fn())
vi.mock('../base/live.js', () => ({
  onMetrics: (listener: typeof hear) => {
    hear.rows = listener.rows
    return () => {}
  },
}))
vi.mock('../base/server.js', () => ({ get: ask, runPath: (run: string) => run }))

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const seriesOf = (name: string) => ({ name, role: 'trainer', step: [1], time: [1], y: [1], odd: [], count: 1 })
const row = (step: number): MetricsRow => ({
  ...{ step, time: step },
  metrics: Object.fromEntries(names.map((name) => [name, step])),
})

beforeEach(() => {
  vi.useFakeTimers()
  ask.mockImplementation(async (_, { name }: { name: string[] }) => ({ series: name.map(seriesOf), unknown: [] }))
})
afterEach(() => vi.useRealTimers())

it('draws a few charts in a frame, each with all that came since; what nobody sees is asked again when somebody does', async () => {
  const frames: (() => void)[] = []
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => frames.push(draw))
  const store = new SeriesStore('run')
  const drawn: string[] = []
  const watch = (name: string) =>
    effect(() => {
      const length = store.of(name).value?.step.length
      if (length !== undefined) drawn.push(`${name} ${length}`)
    })
  const leave = names.map(watch)
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    for (const draw of frames.splice(0)) draw()
    return drawn.splice(0).sort()
  }
  expect(await after(20)).toEqual(names.map((name) => `${name} 1`))
  for (let step = 2; step <= 4; step++) hear.rows('trainer', [row(step)])
  expect(await after(1)).toEqual(names.slice(0, 6).map((name) => `${name} 4`))
  expect(await after(1)).toEqual(['g 4', 'h 4'])
  hear.rows('trainer', [row(5)])
  expect(await after(300)).toEqual([])
  hear.rows('trainer', [row(6)])
  expect(await after(100)).toEqual(names.slice(0, 6).map((name) => `${name} 6`))
  expect(await after(1)).toEqual(['g 6', 'h 6'])

  for (const stop of leave.slice(1)) stop()
  hear.rows('trainer', [row(7)])
  expect(await after(500)).toEqual(['a 7'])
  ask.mockClear()
  watch('b')
  await after(20)
  expect(ask.mock.calls.map(([, { name }]) => name)).toEqual([['b']])
  vi.unstubAllGlobals()
})
