import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ApartExplorerSync, ApartTrainerSync, takeLatest } from './apart.js'
import type { SyncSchedule } from './schedule.js'
import { StatusBoard } from './status.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-apart-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const signal = new AbortController().signal
const schedule = (change: Partial<SyncSchedule> = {}): SyncSchedule => ({
  sync_style: 'fixed',
  explorer_sync_interval: 1,
  trainer_sync_interval: 1,
  sync_offset: 0,
  ...change,
})

/** Both sides over one folder; weights are only numbers. */
function pair(change: Partial<SyncSchedule> = {}, timeoutMs = 5000) {
  const boards = {
    explorer: new StatusBoard(dir, { role: 'explorer', name: 'explorer' }),
    trainer: new StatusBoard(dir, { role: 'trainer', name: 'trainer' }),
  }
  const notes: string[] = []
  const written: number[] = []
  const loaded: number[] = []
  const ended: number[] = []
  let broken = 0
  const breakLoads = (count: number) => {
    broken = count
  }
  const common = { schedule: schedule(change), note: (text: string) => void notes.push(text) }
  const trainer = new ApartTrainerSync(
    { ...common, board: boards.trainer, write: async (step) => void written.push(step) },
    0,
    0,
  )
  const explorer = new ApartExplorerSync(
    {
      ...common,
      board: boards.explorer,
      timeoutMs,
      latest: async () => {
        const step = written.at(-1)
        return step === undefined ? undefined : { step, path: `global_step_${step}`, full: false }
      },
      load: async ({ step }) => {
        if (broken-- > 0) throw new Error('moved away')
        loaded.push(step)
      },
      trainerEnded: (step) => void ended.push(step),
    },
    0,
  )
  return { boards, notes, written, loaded, ended, trainer, explorer, breakLoads }
}

describe('the newest weights', () => {
  const at = (step: number) => ({ step, path: `global_step_${step}`, full: false })

  it('are loaded in place of those that vanish under the reader, as often as that happens', async () => {
    let newest = 3
    const tried: number[] = []
    const load = async ({ step }: { step: number }) => {
      tried.push(step)
      if (newest < 7) {
        newest++
        throw new Error('ENOENT')
      }
    }
    expect(await takeLatest({ latest: async () => at(newest), load }, 2, 'finish', signal)).toBe(7)
    expect(tried).toEqual([3, 4, 5, 6, 7])
    expect(await takeLatest({ latest: async () => at(7), load }, 7, 'finish', signal)).toBeUndefined()
  })

  it('that stay and cannot be read are an error, and an abort is one at once', async () => {
    const load = async () => {
      throw new Error('half a file')
    }
    const latest = async () => at(4)
    const failing = takeLatest({ latest, load }, 0, 'finish', signal)
    await expect(failing).rejects.toMatchObject({ code: 'sync/load', path: 'global_step_4' })
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(takeLatest({ latest, load }, 0, 'finish', aborted)).rejects.toThrow('enough')
  })
})

describe('explorer and trainer of two processes', () => {
  it('fixed: the explorer waits for the training step that its own is paired with', async () => {
    const { trainer, explorer, loaded } = pair({ explorer_sync_interval: 2, trainer_sync_interval: 3, sync_offset: 1 })
    await explorer.afterStep(1, signal)
    await explorer.afterStep(2, signal)
    let done = false
    const waiting = explorer.afterStep(3, signal).then(() => {
      done = true
    })
    for (const step of [1, 2]) await trainer.afterStep(step, signal)
    await sleep(120)
    expect(done).toBe(false)
    await trainer.afterStep(3, signal)
    await waiting
    expect(explorer.version).toBe(3)
    expect(loaded).toEqual([3])
  })

  it('explorer_driven: the trainer writes when it is asked, and only something new', async () => {
    const { trainer, explorer, written } = pair({ sync_style: 'explorer_driven' })
    await trainer.afterStep(1, signal)
    expect(written).toEqual([])
    const waiting = explorer.afterStep(1, signal)
    await sleep(60)
    await trainer.afterStep(2, signal)
    await waiting
    expect(written).toEqual([2])
    expect(explorer.version).toBe(2)
    await trainer.afterStep(3, signal)
    expect(written).toEqual([2])
  })

  it('trainer_driven and fully_async take what is there and never wait', async () => {
    for (const sync_style of ['trainer_driven', 'fully_async'] as const) {
      const { trainer, explorer } = pair({ sync_style })
      await explorer.afterStep(1, signal)
      expect(explorer.version).toBe(0)
      await trainer.afterStep(1, signal)
      await explorer.afterStep(2, signal)
      expect(explorer.version).toBe(1)
    }
  })

  it('does not wait for a trainer that waits for experiences', async () => {
    const { trainer, explorer, notes } = pair()
    const arrived = new AbortController()
    const starving = trainer.whileWaiting(arrived.signal)
    await explorer.afterStep(1, signal)
    await explorer.afterStep(2, signal)
    arrived.abort()
    await starving
    expect(explorer.version).toBe(0)
    expect(notes.filter((note) => note.includes('train_batch_size'))).toHaveLength(1)
  })

  it('takes newer weights when those it wanted have been replaced', async () => {
    const { trainer, explorer, breakLoads, loaded } = pair()
    await trainer.afterStep(1, signal)
    breakLoads(1)
    await explorer.afterStep(1, signal)
    expect(loaded).toEqual([1])
    await trainer.afterStep(2, signal)
    breakLoads(2)
    await expect(explorer.afterStep(2, signal)).rejects.toMatchObject({ code: 'sync/load' })
  })

  it('hears of the end and of failures', async () => {
    const { boards, explorer, trainer, notes, ended } = pair()
    await boards.trainer.set({ state: 'failed', cause: 'out of luck' })
    const waiting = explorer.afterStep(1, signal)
    await sleep(150)
    expect(notes).toEqual([expect.stringContaining('out of luck')])
    await boards.trainer.set({ state: 'ended', step: 7 })
    await waiting
    expect(ended).toEqual([7])
    await boards.explorer.set({ state: 'failed', cause: 'no tasks' })
    const arrived = new AbortController()
    const wait = trainer.whileWaiting(arrived.signal)
    await sleep(50)
    arrived.abort()
    await wait
    expect(notes.at(-1)).toContain("explorer 'explorer' has failed (no tasks)")
  })

  it('gives up at its deadline with a name', async () => {
    const { explorer } = pair({}, 50)
    await expect(explorer.afterStep(1, signal)).rejects.toMatchObject({
      code: 'sync/timeout',
      message: expect.stringContaining('explorer step 1 waits for the weights of training step 1'),
    })
  })
})
