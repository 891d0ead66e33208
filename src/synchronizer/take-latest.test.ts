import { describe, expect, it } from 'vitest'
import { takeLatest } from './take-latest.js'

const signal = new AbortController().signal

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
