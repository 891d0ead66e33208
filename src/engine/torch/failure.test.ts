import { describe, expect, it } from 'vitest'
import type { Exit } from '../../machine/owned-process.js'
import { areAlone, deathOf } from './failure.js'
import type { WorkerProcess } from './process.js'

function worker(rank: number, exit?: Partial<Exit>): WorkerProcess {
  const log = { last: () => [`rank ${rank}`], find: () => undefined }
  return { rank, exit, log, pulse: { silentMs: 0 }, failure: () => undefined } as unknown as WorkerProcess
}
const alone = { code: 72 }

describe('why a group of workers is no more', () => {
  it.each([
    [[worker(0, alone), worker(1, { code: 9 })], 'torch worker 1 ended with exit code 9'],
    [[worker(0, { code: 9 }), worker(1, alone)], 'torch worker 0 ended with exit code 9'],
    [[worker(0, alone), worker(1, alone), worker(2, { signal: 'SIGKILL' })], 'torch worker 2 was ended by SIGKILL'],
    [[worker(0, alone), worker(1, alone)], 'torch worker 0 ended with exit code 72'],
  ])('is told of the one that the others fell over', (workers, message) => {
    expect(deathOf(workers)).toMatchObject({ code: 'engine/worker-died', message })
  })

  it('may not be known yet', () => {
    expect(areAlone([worker(0, alone), worker(1)])).toBe(true)
    expect(areAlone([worker(0, { code: 1 }), worker(1)])).toBe(false)
    expect(areAlone([worker(0, alone), worker(1, { code: 9 })])).toBe(false)
    expect(areAlone([worker(0, alone), worker(1, alone)])).toBe(false)
    expect(areAlone([worker(0), worker(1)])).toBe(false)
  })
})
