import { describe, expect, it } from 'vitest'
import { ApartTrainerSync } from './apart-trainer.js'
import type { Clock } from './clock.js'
import { isAlive, Peers, SILENT_MS } from './peers.js'
import { type RoleStatus, StatusBoard } from './status.js'
import type { StatusStore } from './status-store.js'
import { WaitNote } from './wait-note.js'

let now = 0
const clock: Clock = { now: () => now, sleep: async () => {}, every: () => () => {} }
const explorer = (change: Partial<RoleStatus>): RoleStatus => ({
  ...{ role: 'explorer', name: 'explorer', pid: 1, boot: 'a', beat: 1, state: 'running', hungry: 0, step: 4 },
  ...{ version: 0, at: '1970-01-01T00:00:00.000Z' },
  ...change,
})
/** What others have written. */
const board = (...all: RoleStatus[]): StatusStore & { all: RoleStatus[] } => ({
  all,
  async read() {
    return this.all
  },
  async write() {},
})

describe('another process', () => {
  it('is alive while its counter goes on, whatever its clock says', async () => {
    const store = board(explorer({}))
    const peers = await Peers.open(store, clock, 'trainer')
    const look = async () => (await peers.look('explorer'))[0]
    expect(await look()).toMatchObject({ lived: false, born: false, silentMs: 0 })
    expect(isAlive(await look())).toBe(false)
    now += 1000
    store.all = [explorer({ beat: 2, at: '1999-01-01T00:00:00.000Z' })]
    expect(await look()).toMatchObject({ lived: true, born: false, silentMs: 0 })
    now += SILENT_MS - 1
    expect(isAlive(await look())).toBe(true)
    now += 1
    expect(isAlive(await look())).toBe(false)
    store.all = [explorer({ boot: 'b', beat: 2 })]
    expect(await look()).toMatchObject({ lived: true, born: true, silentMs: 0 })
  })

  it('that shows life comes before what others have left', async () => {
    const store = board(explorer({ name: 'dead', state: 'ended' }), explorer({}))
    const peers = await Peers.open(store, clock, 'trainer')
    store.all = [store.all[0], explorer({ beat: 2 })]
    const found = await peers.look('explorer')
    expect(found.map(({ status, lived }) => [status.name, lived])).toEqual([
      ['explorer', true],
      ['dead', false],
    ])
  })

  it('that wanted weights and was killed gets them for a while only', async () => {
    const store = board(explorer({ state: 'wants_weights' }))
    const written: number[] = []
    const schedule = {
      sync_style: 'explorer_driven' as const,
      explorer_sync_interval: 1,
      trainer_sync_interval: 1,
      sync_offset: 0,
    }
    const own = await StatusBoard.open({ store, clock, role: 'trainer', name: 'trainer' })
    const write = async (step: number) => void written.push(step)
    const sync = new ApartTrainerSync({ schedule, board: own, write, starved: async () => true, note: () => {} }, 0, 0)
    const { signal } = new AbortController()
    await sync.afterStep(1, signal)
    now += SILENT_MS
    await sync.afterStep(2, signal)
    expect(written).toEqual([1])
    store.all = [explorer({ state: 'wants_weights', beat: 2 })]
    await sync.afterStep(3, signal)
    expect(written).toEqual([1, 3])
  })
})

describe('a long wait', () => {
  it('is told of with what the others do, and again when one comes or goes', async () => {
    const store = board()
    const peers = await Peers.open(store, clock, 'trainer')
    const notes: string[] = []
    const note = new WaitNote(clock, (text) => void notes.push(text), 'explorer')
    const look = async (ms: number, ...all: RoleStatus[]) => {
      now += ms
      store.all = all
      note.look('training step 5 waits for experiences', await peers.look('explorer'))
      return notes.splice(0)
    }
    expect(await look(9000)).toEqual([])
    expect(await look(1000)).toEqual(['training step 5 waits for experiences (for 10 s); no explorer has started yet'])
    expect(await look(1000)).toEqual([])
    expect(await look(1000, explorer({}))).toEqual([])
    const waits_for = 'explorer step 4 waits for the weights of training step 5'
    const waits = explorer({ beat: 2, state: 'wants_weights', waits_for })
    expect(await look(48_000, waits)).toEqual([
      `training step 5 waits for experiences (for 60 s); the explorer: ${waits_for}`,
    ])
    expect(await look(SILENT_MS, waits)).toEqual([expect.stringContaining('silent for 30 s: was it killed?')])
  })
})
