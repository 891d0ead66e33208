import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Capacity, type Machine } from './capacity.js'
import type { PlannedRun } from './plan.js'
import { runQueue } from './queue.js'

const runs = ['a', 'b', 'c'].map((id) => ({ id }) as PlannedRun)
const GIB = 2 ** 30
const machine = (free: number, cores = 4): Machine => ({ cores, free: () => free, held: async () => GIB })
const never = new AbortController().signal

interface Script {
  readonly capacity: Capacity
  readonly fails?: Readonly<Record<string, string>>
  readonly stopAt?: string
}

/** What happens, with runs that take 30 ms each. */
async function happens({ capacity, fails = {}, stopAt }: Script): Promise<{ events: string[]; most: number }> {
  const events: string[] = []
  const stop = new AbortController()
  let [open, most] = [0, 0]
  await runQueue(runs, {
    capacity,
    stop: stop.signal,
    now: never,
    begun: ({ id }) => void events.push(`begins ${id}`),
    ended: ({ id }, why) => void events.push(why === undefined ? `ended ${id}` : `failed ${id}: ${why}`),
    start: (run) => {
      most = Math.max(most, ++open)
      const failed = sleep(30).then(() => {
        open--
        return fails[run.id]
      })
      if (run.id === stopAt) stop.abort()
      return { run, failed, pid: 1, isWarm: true, stop: () => void events.push(`stop ${run.id}`), kill: () => {} }
    },
  })
  return { events, most }
}

describe('a queue of runs', () => {
  it('goes one by one, and a failure does not hold up the others', async () => {
    const { events, most } = await happens({ capacity: new Capacity(1, machine(8 * GIB)), fails: { a: 'no luck' } })
    expect(events).toEqual(['begins a', 'failed a: no luck', 'begins b', 'ended b', 'begins c', 'ended c'])
    expect(most).toBe(1)
  })

  it('goes as wide as cores and memory allow', async () => {
    expect((await happens({ capacity: new Capacity('auto', machine(8 * GIB)) })).most).toBe(3)
    expect((await happens({ capacity: new Capacity('auto', machine(8 * GIB, 2)) })).most).toBe(2)
    // what is free does not hold one more of the size that was seen
    expect((await happens({ capacity: new Capacity(3, machine(1.1 * GIB)) })).most).toBe(1)
    expect(new Capacity(1, machine(GIB, 8)).threads()).toBeUndefined()
    expect(new Capacity(3, machine(GIB, 8)).threads()).toBe(2)
    expect(new Capacity(9, machine(GIB, 8)).threads()).toBe(1)
  })

  it('begins nothing more once it is asked to stop, and waits for what is under way', async () => {
    const { events } = await happens({ capacity: new Capacity(1, machine(8 * GIB)), stopAt: 'a' })
    expect(events).toEqual(['begins a', 'ended a'])
  })
})
