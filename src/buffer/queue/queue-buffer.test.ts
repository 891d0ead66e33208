import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { describe, expect, it } from 'vitest'
import type { Given, ReplayBufferConfig } from '../../config/index.js'
import { createExperience } from '../../experience/create.js'
import type { Experience } from '../../experience/experience.js'
import type { GivenBuffer } from '../kind.js'
import { openBuffer } from '../open.js'

const experience = (modelVersion: number) => createExperience({ tokens: [1, 2], modelVersion })
const item = (modelVersion: number, size = 1) => Array.from({ length: size }, () => experience(modelVersion))
const versions = (experiences: Experience[]) => experiences.map((e) => e.modelVersion)
const uses = (experiences: Experience[]) => experiences.map((e) => e.useCount)

function queue(capacity: number, replay?: Given<ReplayBufferConfig>, context = {}) {
  const config: GivenBuffer = { name: 'q', storage_type: 'queue', capacity, replay_buffer: replay }
  return openBuffer(config, context)
}

describe('a full queue', () => {
  it('counts its capacity in experiences and makes the producer wait for room', async () => {
    const buffer = await queue(4)
    await buffer.put(item(0, 3))
    let stored = false
    const putting = buffer.put(item(1, 2), { who: 'explorer' }).then(() => (stored = true))
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(stored).toBe(false)
    expect((await buffer.state()).waiting).toMatchObject([
      { who: 'explorer', reason: "room for 2 experiences in 'q': 3 of 4 places are taken" },
    ])
    expect(versions(await buffer.take(1))).toEqual([0])
    await putting
    expect(versions(await buffer.take(4))).toEqual([0, 0, 1, 1])
  })

  it('fails with a named reason at the deadline, and has stored nothing', async () => {
    const buffer = await queue(1)
    await buffer.put(item(0))
    const late = buffer.put(item(1), { deadlineMs: 10 })
    await expect(late).rejects.toMatchObject({ code: 'buffer/full' })
    await expect(late).rejects.toThrow(/waited 0\.01 s for room for 1 experiences/)
    expect(await buffer.state()).toMatchObject({ ready: 1, put: 1 })
  })

  it('lets a list in that is larger than the queue, once it is empty', async () => {
    const buffer = await queue(2)
    await buffer.put(item(0, 5))
    expect(await buffer.take(5)).toHaveLength(5)
  })

  it('never makes producer and taker wait for each other', async () => {
    const buffer = await queue(4)
    await buffer.put(item(0, 3))
    const putting = buffer.put(item(1, 3))
    expect(versions(await buffer.take(5))).toEqual([0, 0, 0, 1, 1])
    await putting
  })

  it('keeps the order of puts that wait', async () => {
    const buffer = await queue(1)
    const putting = [0, 1, 2, 3].map((version) => buffer.put(item(version)))
    const taken: number[] = []
    for (let i = 0; i < 4; i++) taken.push(...versions(await buffer.take(1)))
    await Promise.all(putting)
    expect(taken).toEqual([0, 1, 2, 3])
  })
})

it('shows in its database what was taken and what was thrown away', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-queue-'))
  const file = join(folder, 'q.db')
  const config = { name: 'q', storage_type: 'queue', path: `sqlite:///${file}`, capacity: 2 }
  const buffer = await openBuffer({ ...config, replay_buffer: { enable: true } })
  for (const version of [1, 2, 3, 4]) await buffer.put(item(version))
  await buffer.take(1)
  await expect(buffer.take(1, { minModelVersion: 4, deadlineMs: 1 })).rejects.toMatchObject({ code: 'buffer/timeout' })
  await buffer.put(item(5))
  await buffer.close()
  const rows = new Libsql(file).prepare('SELECT model_version, consumed, ready FROM q ORDER BY id').raw().all()
  // 1 and 2 were pushed out, 4 was taken, 3 was too old, 5 is waiting.
  expect(rows).toEqual([
    [1, 0, 0],
    [2, 0, 0],
    [3, 0, 0],
    [4, 1, 0],
    [5, 0, 1],
  ])
  rmSync(folder, { recursive: true })
})

describe('replay', () => {
  const decay = { decay: 0.6 }

  it('keeps the newest 8 of 12 and hands them out newest first (published trace)', async () => {
    const buffer = await queue(8, { enable: true, priority_fn_args: decay })
    for (let version = 0; version < 12; version++) await buffer.put(item(version))
    expect(await buffer.state()).toMatchObject({ ready: 8, discarded: 4 })
    const taken: Experience[] = []
    for (let i = 0; i < 4; i++) taken.push(...(await buffer.take(2)))
    expect(versions(taken)).toEqual([11, 10, 9, 8, 7, 6, 5, 4])
    expect(uses(taken)).toEqual(new Array(8).fill(1))
    await expect(buffer.take(1, { deadlineMs: 5 })).rejects.toMatchObject({ code: 'buffer/timeout' })
  })

  it('uses items again after the cool-down, by priority (published trace)', async () => {
    let now = 0
    const replay = { enable: true, priority_fn_args: decay, reuse_cooldown_time: 0.5 }
    const buffer = await queue(8, replay, { now: () => now })
    for (let version = 0; version < 5; version++) await buffer.put(item(version, 2))
    const round = async () => {
      const taken = await buffer.take(4)
      const seen = [versions(taken), uses(taken)]
      now += 500
      return seen
    }
    // 4 and 3 first; after two uses 4 − 1.2 is still best, and 2 has overtaken 3 − 1.2.
    expect(await round()).toEqual([
      [4, 4, 3, 3],
      [1, 1, 1, 1],
    ])
    expect(await round()).toEqual([
      [4, 4, 3, 3],
      [2, 2, 2, 2],
    ])
    expect(await round()).toEqual([
      [4, 4, 2, 2],
      [3, 3, 1, 1],
    ])
    // 4 − 1.8 = 2.2, 3 − 1.2 = 1.8, 2 − 0.6 = 1.4, 1
    expect(await round()).toEqual([
      [4, 4, 3, 3],
      [4, 4, 3, 3],
    ])
  })

  it('hands nothing out again before its time, and wakes the taker then', async () => {
    const buffer = await queue(8, { enable: true, reuse_cooldown_time: 0.03 })
    await buffer.put(item(1))
    await buffer.take(1)
    expect(await buffer.state()).toMatchObject({ ready: 0, cooling: 1 })
    expect(uses(await buffer.take(1, { deadlineMs: 5000 }))).toEqual([2])
  })

  it('stops at the limit of uses', async () => {
    let now = 0
    const replay = { enable: true, priority_fn: 'decay_limit_randomization', reuse_cooldown_time: 0 }
    const buffer = await queue(8, { ...replay, priority_fn_args: { use_count_limit: 2 } }, { now: () => now++ })
    await buffer.put(item(1))
    expect(uses(await buffer.take(1))).toEqual([1])
    expect(uses(await buffer.take(1))).toEqual([2])
    await expect(buffer.take(1, { deadlineMs: 5 })).rejects.toMatchObject({ code: 'buffer/timeout' })
  })

  it('splits an item that is larger than what is asked for', async () => {
    const buffer = await queue(8, { enable: true })
    await buffer.put(item(1, 3))
    await buffer.put(item(2, 3))
    expect(versions(await buffer.take(4))).toEqual([2, 2, 2, 1])
    expect(versions(await buffer.take(2))).toEqual([1, 1])
  })

  it('does not take in what is worse than everything it holds', async () => {
    const buffer = await queue(2, { enable: true })
    await buffer.put(item(5))
    await buffer.put(item(6))
    await buffer.put(item(4))
    expect(await buffer.state()).toMatchObject({ ready: 2, discarded: 1 })
    await buffer.put(item(5))
    expect(versions(await buffer.take(2))).toEqual([6, 5])
  })

  it('comes to an end: what is finished is not used again', async () => {
    const buffer = await queue(8, { enable: true, reuse_cooldown_time: 0 })
    await buffer.put(item(1, 2))
    await buffer.finish()
    expect(await buffer.take(2)).toHaveLength(2)
    expect(await buffer.take(2)).toEqual([])
  })

  it('goes on after a restore as it would have gone on, noise included', async () => {
    const replay = {
      enable: true,
      priority_fn: 'decay_limit_randomization',
      priority_fn_args: { sigma: 3, use_count_limit: 9 },
      reuse_cooldown_time: 1,
    }
    let now = 0
    const play = async (buffer: Awaited<ReturnType<typeof queue>>) => {
      const seen: number[][] = []
      for (let version = 20; version < 26; version++) {
        await buffer.put(item(version, 2))
        const taken = await buffer.take(3)
        seen.push(versions(taken), uses(taken))
        now += 600
      }
      return seen
    }
    const buffer = await queue(16, replay, { seed: 7, now: () => now })
    for (let version = 0; version < 8; version++) await buffer.put(item(version, 2))
    await buffer.take(3)
    now += 300
    const cut = JSON.parse(JSON.stringify(await buffer.cut()))
    const seen = await play(buffer)

    now = 1_000_000
    const again = await queue(16, replay, { seed: 7, now: () => now })
    await again.restore(cut)
    expect(await play(again)).toEqual(seen)
  })

  it('checks the arguments of its priority function', async () => {
    const wrong = queue(8, { enable: true, priority_fn_args: { dekay: 1 } })
    await expect(wrong).rejects.toMatchObject({ code: 'args/invalid' })
    const unknown = queue(8, { enable: true, priority_fn: 'linear_dekay' })
    await expect(unknown).rejects.toMatchObject({ hint: expect.stringMatching(/linear_decay/) })
  })
})
