import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ApartExplorerSync } from './apart-explorer.js'
import { ApartTrainerSync } from './apart-trainer.js'
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

const boardOf = (role: 'explorer' | 'trainer') => StatusBoard.open({ store: dir, role, name: role })
const boards: StatusBoard[] = []
afterEach(async () => {
  for (const board of boards.splice(0)) await board.close()
})

/** Weights are only numbers. */
function job(change: Partial<SyncSchedule> = {}, timeoutMs = 5000) {
  const notes: string[] = []
  const written: number[] = []
  const loaded: number[] = []
  const ended: number[] = []
  const common = { schedule: schedule(change), note: (text: string) => void notes.push(text) }
  let broken = 0
  const breakLoads = (count: number) => {
    broken = count
  }
  const startTrainer = async (step = 0) => {
    const board = await boardOf('trainer')
    boards.push(board)
    const write = async (at: number) => void written.push(at)
    return { board, sync: new ApartTrainerSync({ ...common, board, write, starved: async () => true }, step, step) }
  }
  const startExplorer = async (version = 0) => {
    const board = await boardOf('explorer')
    boards.push(board)
    const sync = new ApartExplorerSync(
      {
        ...common,
        board,
        timeoutMs,
        latest: async () => {
          const step = written.at(-1)
          return step === undefined ? undefined : { step, path: `global_step_${step}`, full: false }
        },
        load: async ({ step }) => {
          if (broken-- > 0) throw new Error('moved away')
          loaded.push(step)
        },
        finished: async () => undefined,
        trainerEnded: (step) => void ended.push(step),
      },
      version,
    )
    return { board, sync }
  }
  return { notes, written, loaded, ended, startTrainer, startExplorer, breakLoads }
}

/** Both sides over one folder. */
async function pair(change: Partial<SyncSchedule> = {}, timeoutMs = 5000) {
  const { startTrainer, startExplorer, ...rest } = job(change, timeoutMs)
  const [trainer, explorer] = [await startTrainer(), await startExplorer()]
  const both = { explorer: explorer.board, trainer: trainer.board }
  return { ...rest, boards: both, trainer: trainer.sync, explorer: explorer.sync }
}

describe('explorer and trainer of two processes', () => {
  it('fixed: the explorer waits for the training step that its own is paired with', async () => {
    const { trainer, explorer, loaded } = await pair({
      explorer_sync_interval: 2,
      trainer_sync_interval: 3,
      sync_offset: 1,
    })
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
    const { trainer, explorer, written } = await pair({ sync_style: 'explorer_driven' })
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
      const { trainer, explorer } = await pair({ sync_style })
      await explorer.afterStep(1, signal)
      expect(explorer.version).toBe(0)
      await trainer.afterStep(1, signal)
      await explorer.afterStep(2, signal)
      expect(explorer.version).toBe(1)
    }
  })

  it('does not wait for a trainer that waits for experiences', async () => {
    const { trainer, explorer, notes } = await pair()
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
    const { trainer, explorer, breakLoads, loaded } = await pair()
    await trainer.afterStep(1, signal)
    breakLoads(1)
    await explorer.afterStep(1, signal)
    expect(loaded).toEqual([1])
    await trainer.afterStep(2, signal)
    breakLoads(2)
    await expect(explorer.afterStep(2, signal)).rejects.toMatchObject({ code: 'sync/load' })
  })

  it('hears of the end and of failures', async () => {
    const { boards, explorer, trainer, notes, ended } = await pair()
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

  it('takes the last weights when the trainer has ended, and does not wait for one that is gone', async () => {
    const { boards, trainer, explorer, loaded, written } = await pair({ sync_style: 'trainer_driven' }, 300)
    await trainer.afterStep(1, signal)
    const last = explorer.takeLast(9, signal)
    await sleep(120)
    expect(boards.explorer.own).toMatchObject({ state: 'running', waits_for: expect.stringContaining('last step 9') })
    await trainer.afterStep(2, signal)
    written.push(3)
    await boards.trainer.set({ state: 'ended', step: 3 })
    await last
    expect([explorer.version, loaded.at(-1)]).toEqual([3, 3])
    expect(boards.explorer.own.waits_for).toBeUndefined()
    await explorer.takeLast(9, signal)

    const left = await pair({ sync_style: 'trainer_driven' }, 300)
    await left.trainer.afterStep(1, signal)
    await left.boards.trainer.close()
    await left.explorer.takeLast(9, signal)
    expect(left.explorer.version).toBe(1)
    expect(left.notes).toEqual([expect.stringContaining('no sign of life of the trainer')])
  })

  it('ends its wait for the last weights with the signal', async () => {
    const { explorer } = await pair()
    const control = new AbortController()
    setTimeout(() => control.abort(new Error('asked to stop')), 50)
    await explorer.takeLast(9, control.signal)
    expect(explorer.version).toBe(0)
  })

  it('gives up at its deadline with a name', async () => {
    const { explorer } = await pair({}, 50)
    await expect(explorer.afterStep(1, signal)).rejects.toMatchObject({
      code: 'sync/timeout',
      message: expect.stringContaining('explorer step 1 waits for the weights of training step 1'),
    })
  })
})

describe('a process that was killed', () => {
  it('explorer: one that is started again goes on although the trainer has waited since before', async () => {
    const { startTrainer, startExplorer, notes } = job({ sync_style: 'explorer_driven' })
    const arrived = new AbortController()
    const starving = (await startTrainer()).sync.whileWaiting(arrived.signal)
    await sleep(800)
    const explorer = await startExplorer()
    await explorer.sync.afterStep(1, signal)
    expect(explorer.board.own).toMatchObject({ state: 'running', step: 1 })
    expect(notes).toEqual([expect.stringContaining('continues with the weights of training step 0')])
    arrived.abort()
    await starving
  })

  it('trainer: what it left makes no explorer go on, end, or tell of a failure', async () => {
    for (const left of ['wants_experiences', 'ended', 'failed'] as const) {
      const { startTrainer, startExplorer, ended, notes } = job({}, 1800)
      const trainer = await startTrainer()
      await trainer.board.set({ state: left, step: 3, hungry: 7 })
      await trainer.board.close()
      const { sync } = await startExplorer()
      await expect(sync.afterStep(1, signal), left).rejects.toMatchObject({ code: 'sync/timeout' })
      expect([...ended, ...notes]).toEqual([])
    }
  })

  it('trainer: started again from an earlier step, its weights replace those that it has lost', async () => {
    const { startTrainer, startExplorer, written, loaded } = job({ sync_style: 'trainer_driven' })
    await (await startTrainer()).sync.afterStep(7, signal)
    const { sync } = await startExplorer(7)
    await sync.afterStep(8, signal)
    expect([loaded, sync.version]).toEqual([[], 7])
    const again = await startTrainer(3)
    written.push(3)
    await again.board.set({ state: 'running' })
    await sync.afterStep(9, signal)
    expect([loaded, sync.version]).toEqual([[3], 3])
    await sync.afterStep(10, signal)
    expect(loaded).toEqual([3])
  })

  it('trainer: batches that it has lost are waited for once, then the steps are paired again', async () => {
    const { startTrainer, startExplorer, written } = job()
    const [trainer, { sync, board }] = [await startTrainer(4), await startExplorer(4)]
    const arrived = new AbortController()
    const starving = trainer.sync.whileWaiting(arrived.signal)
    await sync.afterStep(6, signal)
    arrived.abort()
    await starving
    const waiting = sync.afterStep(7, signal)
    await sleep(100)
    expect(board.own).toMatchObject({ state: 'wants_weights', waits_for: expect.stringContaining('training step 5') })
    await trainer.sync.afterStep(5, signal)
    await waiting
    expect([written, sync.version]).toEqual([[5], 5])
  })
})

describe('a wait', () => {
  it('of both gives the explorer the newest weights, also where they are not due yet', async () => {
    const { startTrainer, startExplorer, written } = job({ explorer_sync_interval: 3, trainer_sync_interval: 3 })
    const [trainer, { sync }] = [await startTrainer(), await startExplorer()]
    await trainer.sync.afterStep(1, signal)
    expect(written).toEqual([])
    const arrived = new AbortController()
    const starving = trainer.sync.whileWaiting(arrived.signal)
    await sync.afterStep(3, signal)
    expect([written, sync.version]).toEqual([[1], 1])
    arrived.abort()
    await starving
  })

  it('is told in the status, with signs of life', async () => {
    const { startTrainer, startExplorer } = job()
    const [trainer, { board }] = [await startTrainer(), await startExplorer()]
    const arrived = new AbortController()
    const waiting = trainer.sync.whileWaiting(arrived.signal)
    await sleep(100)
    const [before] = await board.others('trainer')
    expect(before.status).toMatchObject({ waits_for: 'training step 1 waits for experiences', pid: process.pid })
    await sleep(1200)
    const [after] = await board.others('trainer')
    expect(after).toMatchObject({ lived: true, status: { boot: before.status.boot } })
    expect(after.status.beat).toBeGreaterThan(before.status.beat)
    arrived.abort()
    await waiting
    expect(trainer.board.own).toMatchObject({ state: 'running' })
    expect(trainer.board.own.waits_for).toBeUndefined()
  })
})
