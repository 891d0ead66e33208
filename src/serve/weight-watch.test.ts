import { describe, expect, it } from 'vitest'
import type { SavedWeights } from '../checkpoint/index.js'
import { WeightWatch } from './weight-watch.js'

const NEVER = new AbortController().signal

function watch({ fails = (): boolean => false, asks = false } = {}) {
  const control = new AbortController()
  const saved: { step?: number } = {}
  const loaded: number[] = []
  const notes: string[] = []
  const told: unknown[] = []
  const one = new WeightWatch(
    {
      newest: async () => saved.step ?? 0,
      latest: async () => (saved.step === undefined ? undefined : ({ step: saved.step, path: 'w' } as SavedWeights)),
      load: async ({ step }) => {
        if (fails()) throw new Error('half a file')
        loaded.push(step)
      },
      board: {
        clock: { now: () => 0, every: () => () => {}, sleep: async () => void (told.length === 3 && control.abort()) },
        set: async (change: object) => void told.push(change),
      },
      intervalMs: 1,
      asks,
      step: () => 5,
      note: (text) => notes.push(text),
    },
    0,
  )
  return { one, saved, loaded, notes, told, signal: control.signal }
}

describe('WeightWatch', () => {
  it('takes what is newer, and what is older where the trainer has gone back', async () => {
    const { one, saved, loaded } = watch()
    await one.look(NEVER)
    for (const step of [3, 3, 4, 2, 2]) {
      saved.step = step
      await one.look(NEVER)
    }
    expect(loaded).toEqual([3, 4, 2])
    expect(one.version).toBe(2)
  })

  it('goes on with the old ones where new ones cannot be read, and says so once', async () => {
    let broken = true
    const { one, saved, notes } = watch({ fails: () => broken })
    saved.step = 3
    await one.look(NEVER)
    await one.look(NEVER)
    expect(notes).toEqual([expect.stringMatching(/goes on with the weights of training step 0: .*step 3.*half a file/)])
    broken = false
    await one.look(NEVER)
    expect(one.version).toBe(3)
  })

  it('tells the others that it lives, and asks for weights where nobody brings them', async () => {
    const quiet = watch()
    await quiet.one.run(quiet.signal)
    expect(quiet.told).toEqual(new Array(3).fill({ step: 5, version: 0, state: 'running' }))
    const asking = watch({ asks: true })
    await asking.one.run(asking.signal)
    expect(asking.told[0]).toMatchObject({ state: 'wants_weights', version: 0 })
  })
})
