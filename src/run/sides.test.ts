import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { TrainerEnd } from '../trainer/index.js'
import { runSides } from './sides.js'
import { Stop } from './stop.js'

const sync = { explorerEnded: async () => {}, trainerEnded: async () => {} }
/** A side that goes on until it is told to stop. */
const endless = async (signal: AbortSignal) => {
  await sleep(10_000, undefined, { signal }).catch(() => {
    throw signal.reason
  })
}
const trainer = (run: (signal: AbortSignal, stop?: AbortSignal) => Promise<TrainerEnd>) => ({ step: 1, run })

describe('two sides', () => {
  it('end together', async () => {
    const end = await runSides({
      explorer: { run: async () => {} },
      trainer: trainer(async () => 'end_of_data'),
      sync,
      stop: new Stop(),
    })
    expect(end).toEqual({ end: 'end_of_data' })
  })

  it('fail with the first failure, which stops the other', async () => {
    const failing = async () => {
      await sleep(5)
      throw new Error('the cause')
    }
    const explorerFails = runSides({
      explorer: { run: failing },
      trainer: trainer(async (signal) => {
        await endless(signal)
        return 'end_of_data'
      }),
      sync,
      stop: new Stop(),
    })
    await expect(explorerFails).rejects.toThrow('the cause')
    const trainerFails = runSides({ explorer: { run: endless }, trainer: trainer(failing), sync, stop: new Stop() })
    await expect(trainerFails).rejects.toThrow('the cause')
  })

  it.each(['total_steps', 'stopped'] as const)('a trainer at its end (%s) ends the explorer', async (end) => {
    const result = runSides({ explorer: { run: endless }, trainer: trainer(async () => end), sync, stop: new Stop() })
    expect(await result).toEqual({ end })
  })

  it('stop at once when told', async () => {
    const stop = new Stop()
    const running = runSides({
      explorer: { run: endless },
      trainer: trainer(async (signal) => {
        await endless(signal)
        return 'end_of_data'
      }),
      sync,
      stop,
    })
    stop.force()
    await expect(running).rejects.toThrow('immediately')
    expect(stop.gentle.aborted).toBe(true)
  })
})
