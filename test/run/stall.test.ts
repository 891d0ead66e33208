import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Stop } from '../../src/run/index.js'
import { Bench, Recorder } from './kit.js'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.make()
})
afterAll(() => bench.remove())

it('a trainer whose explorer does not come says what it waits for', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    const [stop, view] = [new Stop(), new Recorder()]
    const keys = { mode: 'train', 'buffer.trainer_input.experience_buffer': { storage_type: 'sql' } }
    const run = bench.run(keys, { stop, view })
    while (!view.phases.some((phase) => phase.includes('waiting for experiences'))) await sleep(10)
    for (let i = 0; i < 300 && !view.notes.some((note) => note.includes('trainer waits for')); i++) {
      vi.advanceTimersByTime(1000)
      await sleep(5)
    }
    stop.request()
    await run
    expect(view.notes.join('\n')).toMatch(/trainer waits for .*\(for \d+ s\)/)
  } finally {
    vi.useRealTimers()
  }
})
