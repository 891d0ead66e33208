import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRequest } from '../../checked-request.js'
import type { Sample } from '../../contract.js'
import { PagePool } from './pages.js'
import { Scheduler } from './scheduler.js'
import { PendingRequest } from './sequence.js'
import { DRAW, Step } from './step.js'

const PAGE = 4
const VOCAB = 5
const info = { architecture: 'x', parameters: 0, trainableParameters: 0, vocabSize: VOCAB, maxModelLen: 64 }

/**
 * Stands in for the addon: a slot of the cache holds the hash of all tokens up to it. A segment whose earlier slots hold
 * anything else than its own beginning was given wrong pages: shared too long, copied too late, or found by mistake.
 */
class FakeCache {
  readonly #slots = new Map<number, number>()

  run(step: Step): void {
    const [, segments, , copies, , draws] = step.counts
    const before = new Map(this.#slots)
    for (let i = 0; i < copies; i++) {
      for (let j = 0; j < PAGE; j++) {
        const value = before.get(step.copies[2 * i] * PAGE + j)
        if (value !== undefined) this.#slots.set(step.copies[2 * i + 1] * PAGE + j, value)
      }
    }
    let row = 0
    const last: number[] = []
    const written = new Set<number>()
    for (let s = 0; s < segments; s++) {
      const [rows, start, at] = step.segments.subarray(4 * s, 4 * s + 4)
      const slot = (position: number) => step.pages[at + Math.floor(position / PAGE)] * PAGE + (position % PAGE)
      let hash = start === 0 ? 0 : this.#slots.get(slot(start - 1))
      for (let i = 0; i < rows; i++, row++) {
        hash = next(hash!, step.ids[row])
        if (written.has(slot(start + i))) throw new Error('two sequences write one slot')
        written.add(slot(start + i))
        this.#slots.set(slot(start + i), hash)
        last[row] = hash
      }
    }
    for (let i = 0; i < draws; i++) {
      const [out, , , seed, , index, position] = step.draws.subarray(DRAW * i)
      step.tokens[i] = drawn(last[step.outs[2 * out]], seed, index, position)
      step.logprobs[i] = last[step.outs[2 * out]]
    }
    for (let i = 0; i < step.counts[4]; i++) step.scores[i] = last[step.outs[2 * i]]
  }
}

const next = (hash: number, token: number) => (hash * 31 + token + 7) % 1_000_003
const drawn = (hash: number, seed: number, index: number, position: number) =>
  (hash * 7 + seed * 13 + index * 5 + position * 3) % VOCAB

interface Wanted {
  prompt: number[]
  n: number
  maxTokens: number
  seed: number
  scored: boolean
}

/** What every sample must be, computed without any cache. */
function expected({ prompt, n, maxTokens, seed }: Wanted): { tokens: number[]; logprobs: number[] }[] {
  return Array.from({ length: n }, (_, index) => {
    const tokens: number[] = []
    const logprobs: number[] = []
    let hash = prompt.reduce(next, 0)
    for (let i = 0; i < maxTokens; i++) {
      logprobs.push(hash)
      tokens.push(drawn(hash, seed, index, i))
      hash = next(hash, tokens[i])
    }
    return { tokens, logprobs }
  })
}

function jobOf({ prompt, n, maxTokens, seed, scored }: Wanted, cacheTokens: number): PendingRequest {
  const request = { prompt: Int32Array.from(prompt), n, params: { temperature: 1, maxTokens, seed } }
  const wish = checkRequest(request, { info, cacheTokens, seed: { low: 0, high: 0 } })
  return new PendingRequest({ prompt: request.prompt, n, wish, promptLogprobs: scored })
}

const wanted = fc.record({
  // Few different tokens: common beginnings are likely.
  prompt: fc.array(fc.nat(1), { minLength: 1, maxLength: 14 }),
  n: fc.integer({ min: 1, max: 4 }),
  maxTokens: fc.integer({ min: 1, max: 10 }),
  seed: fc.nat(3),
  scored: fc.boolean(),
})
const scenario = fc.record({
  pages: fc.integer({ min: 6, max: 16 }),
  maxBatch: fc.integer({ min: 1, max: 6 }),
  prefixCaching: fc.boolean(),
  // Who comes after how many steps, and after how many more it is aborted (0: never).
  arrivals: fc.array(fc.tuple(fc.nat(3), wanted, fc.nat(12)), { minLength: 1, maxLength: 14 }),
  restartAt: fc.nat(40),
})

describe('the scheduler', () => {
  it('gives every sample what it would get alone, whatever joins, leaves, or is pushed out', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ pages, maxBatch, prefixCaching, arrivals, restartAt }) => {
        const pool = new PagePool(pages, PAGE)
        const scheduler = new Scheduler(pool, { maxBatch, maxQueue: 99, prefixCaching, prefillTokens: 512 })
        const step = new Step()
        const cache = new FakeCache()
        const results: { want: Wanted; samples: Promise<Sample[]> }[] = []
        const aborts = new Map<PendingRequest, number>()
        let time = 0
        const queue = arrivals.map(([wait, want, abort]) => {
          time += wait
          return { at: time, want, abort }
        })
        for (let now = 0; ; now++) {
          for (; queue.length > 0 && queue[0].at <= now; ) {
            const { want, abort } = queue.shift()!
            const job = jobOf(want, pages * PAGE)
            results.push({ want, samples: job.done })
            scheduler.enqueue(job)
            if (abort > 0) aborts.set(job, now + abort)
          }
          const busy = scheduler.plan(step)
          // Aborts come while a step is being computed.
          for (const [job, at] of aborts) if (at === now) scheduler.abort(job)
          if (busy) {
            cache.run(step)
            scheduler.absorb(step)
          } else if (queue.length === 0) break
          if (now === restartAt) scheduler.restart()
          expect(scheduler.running).toBeLessThanOrEqual(maxBatch)
          expect(now).toBeLessThan(2000)
        }
        for (const { want, samples } of results) {
          for (const [i, sample] of (await samples).entries()) {
            const { tokens, logprobs } = expected(want)[i]
            const made = sample.finish === 'abort' ? sample.tokens.length : want.maxTokens
            expect([...sample.tokens]).toEqual(tokens.slice(0, made))
            expect([...sample.logprobs]).toEqual(logprobs.slice(0, made))
            if (want.scored && sample.finish !== 'abort') {
              const scores = want.prompt.map((_, j) => want.prompt.slice(0, j).reduce(next, 0))
              expect([...sample.promptLogprobs!].slice(1)).toEqual(scores.slice(1))
            }
          }
        }
        expect(pool.used).toBe(0)
        expect(scheduler.waiting + scheduler.running).toBe(0)
      }),
      { numRuns: 150 },
    )
  })

  it('pushes out who came last when pages run out, and computes it again', async () => {
    const pool = new PagePool(6, PAGE)
    const scheduler = new Scheduler(pool, { maxBatch: 4, maxQueue: 9, prefixCaching: false, prefillTokens: 512 })
    const jobs = [0, 1, 2].map((seed) =>
      jobOf({ prompt: [seed, 1, 1], n: 1, maxTokens: 12, seed, scored: false }, pool.size * PAGE),
    )
    for (const job of jobs) scheduler.enqueue(job)
    const step = new Step()
    const cache = new FakeCache()
    let pushedOut = 0
    for (let before = 0; scheduler.plan(step); before = scheduler.running) {
      if (scheduler.running < before) pushedOut++
      cache.run(step)
      scheduler.absorb(step)
    }
    expect(pushedOut).toBeGreaterThan(0)
    for (const job of jobs) expect((await job.done)[0].tokens).toHaveLength(12)
  })

  it('computes long prompts in pieces beside the next tokens of others', () => {
    const pool = new PagePool(512, PAGE)
    const scheduler = new Scheduler(pool, { maxBatch: 8, maxQueue: 9, prefixCaching: true, prefillTokens: 512 })
    const long = { ...info, maxModelLen: 1000 }
    const add = (length: number) => {
      const request = { prompt: new Int32Array(length), n: 1, params: { temperature: 1, maxTokens: 20 } }
      const wish = checkRequest(request, { info: long, cacheTokens: 2048, seed: { low: 0, high: 0 } })
      scheduler.enqueue(new PendingRequest({ prompt: request.prompt, n: 1, wish }))
    }
    const step = new Step()
    add(3)
    scheduler.plan(step)
    scheduler.absorb(step)
    add(900)
    let steps = 0
    for (; scheduler.sampledTokens < 12; steps++) {
      scheduler.plan(step)
      expect(step.rows).toBeLessThan(300)
      expect(step.counts[5]).toBeGreaterThan(0)
      scheduler.absorb(step)
    }
    expect(steps).toBeGreaterThan(3)
  })

  it('computes the common beginning of prompts that come together once', async () => {
    const pool = new PagePool(64, PAGE)
    const scheduler = new Scheduler(pool, { maxBatch: 8, maxQueue: 9, prefixCaching: true, prefillTokens: 512 })
    const prompts = [0, 1, 2, 3].map((i) => [1, 2, 3, 4, 0, 1, 2, 3, 4, i])
    const other = [4, 4, 4, 4, 4, 4]
    const jobs = [...prompts, other].map((prompt, seed) =>
      jobOf({ prompt, n: 1, maxTokens: 3, seed, scored: false }, pool.size * PAGE),
    )
    for (const job of jobs) scheduler.enqueue(job)
    const step = new Step()
    const cache = new FakeCache()
    const rows: number[] = []
    while (scheduler.plan(step)) {
      rows.push(step.rows)
      cache.run(step)
      scheduler.absorb(step)
    }
    // The first and the other one; then their next tokens, and of each of the others what lies behind two pages.
    expect(rows.slice(0, 2)).toEqual([10 + 6, 1 + 1 + 3 * 2])
    const samples = await Promise.all(jobs.map((job) => job.done))
    expect(samples.map(([sample]) => sample.cachedTokens)).toEqual([0, 8, 8, 8, 0])
    expect(scheduler.cachedTokens).toBe(24)
  })

  it('refuses more than its bound', () => {
    const scheduler = new Scheduler(new PagePool(8, PAGE), {
      maxBatch: 1,
      maxQueue: 2,
      prefixCaching: true,
      prefillTokens: 512,
    })
    const add = () => scheduler.enqueue(jobOf({ prompt: [1], n: 1, maxTokens: 2, seed: 1, scored: false }, 32))
    for (let i = 0; i < 3; i++) add()
    expect(add).toThrow(expect.objectContaining({ code: 'engine/busy' }))
    scheduler.plan(new Step())
    expect(scheduler.running).toBe(1)
    expect(add).toThrow(expect.objectContaining({ code: 'engine/busy' }))
  })
})
