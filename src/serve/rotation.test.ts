import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SampleModel, SampleRequest } from '../engine/contract.js'
import { type LoadWeights, Rotation } from './rotation.js'

const REQUEST = { prompt: Int32Array.of(1), n: 1, params: { temperature: 1, maxTokens: 1 } } satisfies SampleRequest
const CALL = { seq: 1, deadlineMs: 1000 }
const NEVER = new AbortController().signal

/** Answers when it is told to. */
class Slow {
  version = 0
  begun = 0
  readonly #open: (() => void)[] = []

  sample = (): Promise<never[]> => {
    this.begun++
    return new Promise((resolve) => this.#open.push(() => resolve([])))
  }

  answer(): void {
    for (const one of this.#open.splice(0)) one()
  }
}

function rotation(count: number, options = { least: 1, waitMs: 1000 }) {
  const slow = Array.from({ length: count }, () => new Slow())
  const loads: string[] = []
  const load: LoadWeights = async (sampler, inFlight) => {
    loads.push(`${slow.indexOf(sampler as unknown as Slow)} ${inFlight}`)
    Object.assign(sampler, { version: 1 })
  }
  return { slow, loads, load, all: new Rotation(slow as unknown as SampleModel[], options) }
}

describe('Rotation', () => {
  it('requests go round, and are counted', async () => {
    const { slow, all } = rotation(3)
    const asked = Array.from({ length: 7 }, () => all.sample(REQUEST, CALL))
    expect(slow.map(({ begun }) => begun)).toEqual([3, 2, 2])
    expect(all.counts.map(({ requests }) => requests)).toEqual([3, 2, 2])
    for (const one of slow) one.answer()
    await Promise.all(asked)
  })

  it('a sampler finishes what it has begun before it gets weights; new requests go to the others', async () => {
    const { slow, loads, load, all } = rotation(2)
    const first = all.sample(REQUEST, CALL)
    const update = all.update(load, NEVER)
    await sleep(5)
    expect(loads).toEqual([])
    const later = [all.sample(REQUEST, CALL), all.sample(REQUEST, CALL)]
    expect(slow.map(({ begun }) => begun)).toEqual([1, 2])
    slow[0].answer()
    await sleep(5)
    expect(loads).toEqual(['0 finish'])
    void all.sample(REQUEST, CALL)
    expect(slow[0].begun).toBe(2)
    slow[1].answer()
    await Promise.all([first, ...later, update])
    expect(loads).toEqual(['0 finish', '1 finish'])
    expect(all.version).toBe(1)
  })

  it('a sampler that does not come to rest in time, or cannot be spared, goes on with the new weights', async () => {
    const late = rotation(2, { least: 1, waitMs: 10 })
    void late.all.sample(REQUEST, CALL)
    await late.all.update(late.load, NEVER)
    expect(late.loads).toEqual(['0 continue', '1 finish'])
    const few = rotation(2, { least: 2, waitMs: 1000 })
    void few.all.sample(REQUEST, CALL)
    await few.all.update(few.load, NEVER)
    expect(few.loads).toEqual(['0 continue', '1 continue'])
    const alone = rotation(1, { least: 0, waitMs: 1000 })
    void alone.all.sample(REQUEST, CALL)
    await alone.all.update(alone.load, NEVER)
    expect(alone.loads).toEqual(['0 continue'])
  })

  it('comes back where loading failed', async () => {
    const { slow, all } = rotation(2)
    const failing = all.update(async () => Promise.reject(new Error('broken')), NEVER)
    await expect(failing).rejects.toThrow('broken')
    void all.sample(REQUEST, CALL)
    void all.sample(REQUEST, CALL)
    expect(slow.map(({ begun }) => begun)).toEqual([1, 1])
  })
})
