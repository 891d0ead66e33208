/** What every kind of buffer promises, as tests. */
import { describe, expect, it } from 'vitest'
import type { GivenBuffer } from '../../src/buffer/kind.js'
import { openBuffer } from '../../src/buffer/open.js'
import { createExperience } from '../../src/experience/create.js'
import type { Experience } from '../../src/experience/experience.js'

function experience(task: number, modelVersion = 0, promptText = `task ${task}`): Experience {
  return createExperience({
    eid: { batch: 0, task, suffix: 'aaaaaa' },
    tokens: [1, 2, task],
    logprobs: [-0.5, -0.25],
    advantages: [1, task],
    reward: task / 2,
    modelVersion,
    promptText,
    messages: [{ role: 'user', content: promptText }],
    metrics: { accuracy: 1 },
  })
}
const some = (from: number, to: number, version = 0) =>
  Array.from({ length: to - from }, (_, i) => experience(from + i, version))
const tasks = (experiences: Experience[]) => experiences.map((e) => e.eid.task)
/** Through text, as a checkpoint stores it. */
const stored = <T>(cut: T): T => JSON.parse(JSON.stringify(cut))

/** `config` names a fresh place at every call. */
export function keepsItsPromises(kind: string, config: () => GivenBuffer | Promise<GivenBuffer>): void {
  describe(kind, () => {
    it('hands out whole experiences, first in first out, each once', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put(some(0, 3))
      await buffer.put(some(3, 5))
      const first = await buffer.take(4)
      expect(first[1]).toStrictEqual({ ...experience(1), useCount: 1 })
      expect(tasks(first)).toEqual([0, 1, 2, 3])
      expect(await buffer.state()).toMatchObject({ ready: 1, put: 5, taken: 4, finished: false, waiting: [] })
      await buffer.close()
    })

    it('waits for what is not there yet', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put(some(0, 1))
      const taking = buffer.take(2, { who: 'trainer 1' })
      await expect
        .poll(async () => (await buffer.state()).waiting[0]?.reason)
        .toMatch(/2 experiences of 'b'.* 1 are available/)
      await buffer.put(some(1, 2))
      expect(tasks(await taking)).toEqual([0, 1])
      await buffer.close()
    })

    it('keeps what it had when a take runs into its deadline', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put(some(0, 2))
      const late = buffer.take(3, { deadlineMs: 30, who: 'trainer' })
      await expect(late).rejects.toMatchObject({ code: 'buffer/timeout' })
      await expect(late).rejects.toThrow(/trainer waited 0\.03 s for 3 experiences of 'b'.* 2 are available/)
      expect(tasks(await buffer.take(2))).toEqual([0, 1])
      await buffer.close()
    })

    it('can be stopped while waiting, and loses nothing', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put(some(0, 1))
      const stop = new AbortController()
      const taking = buffer.take(2, { signal: stop.signal })
      setTimeout(() => stop.abort(), 5)
      await expect(taking).rejects.toMatchObject({ code: 'buffer/aborted' })
      expect(tasks(await buffer.take(1))).toEqual([0])
      await buffer.close()
    })

    it('gives the rest and then nothing once all producers have finished', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put(some(0, 2), { who: 'one' })
      await buffer.put(some(2, 3), { who: 'two' })
      await buffer.finish('one')
      await expect(buffer.take(4, { deadlineMs: 20 })).rejects.toMatchObject({ code: 'buffer/timeout' })
      const taking = buffer.take(4)
      await buffer.finish('two')
      expect(tasks(await taking)).toEqual([0, 1, 2])
      expect(await buffer.take(4)).toEqual([])
      await buffer.close()
    })

    it('throws away what an older policy made', async () => {
      const buffer = await openBuffer(await config())
      await buffer.put([...some(0, 2, 1), ...some(2, 4, 5)])
      expect(tasks(await buffer.take(2, { minModelVersion: 3 }))).toEqual([2, 3])
      expect(await buffer.state()).toMatchObject({ ready: 0, discarded: 2 })
      await buffer.close()
    })

    it('is after a restore what it was at the cut', async () => {
      const where = await config()
      const buffer = await openBuffer(where)
      await buffer.put(some(0, 4), { mark: { step: 1 } })
      await buffer.take(1)
      await buffer.put(some(4, 6), { mark: { step: 2 } })
      const cut = stored(await buffer.cut())
      expect(cut.marks).toEqual({ explorer: { step: 2 } })
      await buffer.take(2)
      await buffer.put(some(6, 8), { mark: { step: 3 } })
      await buffer.close()

      const again = await openBuffer(where)
      const restored = await again.restore(cut)
      expect(restored.ready).toBe(5)
      if (where.path) expect(restored.voided).toBe(2)
      expect((await again.cut()).marks).toEqual({ explorer: { step: 2 } })
      await again.put([experience(60)])
      const rest = await again.take(6)
      expect(tasks(rest)).toEqual([1, 2, 3, 4, 5, 60])
      expect(rest.map((e) => e.useCount)).toEqual([1, 1, 1, 1, 1, 1])
      expect(rest[0]).toStrictEqual({ ...experience(1), useCount: 1 })
      await again.close()
    })

    it('is empty after a restore without a cut', async () => {
      const where = await config()
      const buffer = await openBuffer(where)
      await buffer.put(some(0, 3))
      await buffer.close()
      const again = await openBuffer(where)
      expect(await again.restore(undefined)).toEqual({ ready: 0, voided: where.path ? 3 : 0 })
      await again.put(some(7, 8))
      expect(tasks(await again.take(1))).toEqual([7])
      await again.close()
    })

    it('refuses the cut of another kind, and everything once it is closed', async () => {
      const buffer = await openBuffer(await config())
      const foreign = { version: 1, kind: 'other', marks: {}, data: {} } as const
      await expect(buffer.restore(foreign)).rejects.toMatchObject({ code: 'buffer/cut' })
      const waiting = buffer.take(1)
      const failed = expect(waiting).rejects.toMatchObject({ code: 'buffer/closed' })
      await new Promise((resolve) => setTimeout(resolve, 5))
      await buffer.close()
      await failed
      await expect(buffer.take(1)).rejects.toMatchObject({ code: 'buffer/closed' })
    })
  })
}

/** Promises of kinds that several processes share: a killed trainer gets its takes after a step again. */
export function releasesTakes(kind: string, config: () => GivenBuffer | Promise<GivenBuffer>): void {
  describe(`${kind}, shared by processes`, () => {
    const reopened = async (where: GivenBuffer, step: number) => {
      const buffer = await openBuffer(where)
      const released = await buffer.releaseAfter?.(step)
      return { buffer, released }
    }

    it('hands out again what was taken after a training step, in the same order', async () => {
      const where = await config()
      const buffer = await openBuffer(where)
      await buffer.put(some(0, 8), { mark: { step: 1 } })
      const batches: ReturnType<typeof tasks>[] = []
      for (const step of [1, 2, 3]) batches.push(tasks(await buffer.take(2, { step })))
      await buffer.put(some(8, 9), { mark: { step: 2 } })
      await buffer.close()

      const { buffer: again, released } = await reopened(where, 1)
      expect(released).toBe(4)
      expect((await again.cut()).marks).toEqual({ explorer: { step: 2 } })
      const second = await again.take(2, { step: 2 })
      expect([batches[0], tasks(second), tasks(await again.take(2, { step: 3 }))]).toEqual(batches)
      expect(second.map((e) => e.useCount)).toEqual([1, 1])
      expect(tasks(await again.take(3, { step: 4 }))).toEqual([6, 7, 8])
      await again.close()

      const { buffer: first, released: all } = await reopened(where, 0)
      expect(all).toBe(9)
      expect(tasks(await first.take(9, { step: 1 }))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
      expect(await first.releaseAfter?.(1)).toBe(0)
      await first.close()
    })

    it('brings back what a later step discarded as too old, and each use of a replayed experience', async () => {
      const replay_buffer = { enable: true, reuse_cooldown_time: 0, priority_fn: 'linear_decay' }
      const where = { ...(await config()), replay_buffer }
      const buffer = await openBuffer(where)
      await buffer.put([...some(0, 2, 1), ...some(2, 5, 5)])
      const taken: ReturnType<typeof tasks>[] = []
      const play = async (one: typeof buffer, from: number) => {
        const uses: number[][] = []
        for (let step = from; step <= 5; step++) {
          const batch = await one.take(2, { step, minModelVersion: step > 3 ? 3 : 0 })
          taken.push(tasks(batch))
          uses.push(batch.map((e) => e.useCount))
        }
        return uses
      }
      const uses = await play(buffer, 1)
      expect((await buffer.state()).ready).toBe(3)
      await buffer.close()
      const batches = taken.splice(0)

      for (const step of [2, 3, 0]) {
        const { buffer: again } = await reopened(where, step)
        expect((await again.state()).ready).toBe(step < 4 ? 5 : 3)
        expect(await play(again, step + 1)).toEqual(uses.slice(step))
        expect(taken.splice(0)).toEqual(batches.slice(step))
        await again.close()
      }
    })

    it('releases nothing that a cut has restored already', async () => {
      const where = await config()
      const buffer = await openBuffer(where)
      await buffer.put(some(0, 6))
      await buffer.take(2, { step: 1 })
      const cut = stored(await buffer.cut())
      await buffer.take(2, { step: 2 })
      await buffer.restore(cut)
      expect(await buffer.releaseAfter?.(1)).toBe(0)
      expect(tasks(await buffer.take(2, { step: 2 }))).toEqual([2, 3])
      expect(await buffer.releaseAfter?.(0)).toBe(4)
      expect(tasks(await buffer.take(6, { step: 1 }))).toEqual([0, 1, 2, 3, 4, 5])
      await buffer.close()
    })
  })
}
