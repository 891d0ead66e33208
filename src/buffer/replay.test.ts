import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as pass } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Pcg64 } from '../base/random/index.js'
import type { Given, ReplayBufferConfig } from '../config/index.js'
import { createExperience } from '../experience/create.js'
import type { Experience } from '../experience/experience.js'
import { makeEid } from '../experience/index.js'
import type { ExperienceBuffer } from './buffer.js'
import type { GivenBuffer } from './kind.js'
import { openBuffer } from './open.js'

const STEPS = 9
const BATCH = 4

/** What the explorer makes in its steps: the same list every time, of uneven length, sometimes empty. */
function made(seed: number): Experience[][] {
  const random = new Pcg64(seed)
  return Array.from({ length: STEPS }, (_, i) =>
    Array.from({ length: Math.floor(random.random() * 8) }, (__, task) =>
      createExperience({ tokens: [1, 2], modelVersion: Math.max(0, i - 1), eid: makeEid({ batch: i + 1, task }) }),
    ),
  )
}

const name = ({ eid, modelVersion, useCount }: Experience) => `${eid.batch}/${eid.task} v${modelVersion} u${useCount}`

interface Play {
  seed: number
  /** Seeds the delays; undefined: each step is put just when it is needed. */
  delays?: number
  /** The process dies behind this training step. */
  killAt?: number
  minModelVersion?: (step: number) => number
}

/** The batches of a run whose two sides go at speeds of their own. */
async function play(open: () => Promise<ExperienceBuffer>, { seed, delays, killAt, ...rest }: Play): Promise<string[]> {
  let buffer = await open()
  const clock = delays === undefined ? undefined : new Pcg64(delays)
  const pause = async () => {
    for (let i = clock ? Math.floor(clock.random() ** 3 * 12) : 0; i > 0; i--) await pass()
  }
  let asked = 0
  let epoch = 0
  const explore = async (done: number) => {
    const [mine, into, steps] = [++epoch, buffer, made(seed)]
    for (let step = done + 1; step <= STEPS && mine === epoch; step++) {
      await pause()
      while (!clock && mine === epoch && asked < step && (await into.state()).waiting.length === 0) await pass()
      if (mine === epoch) await into.put(steps[step - 1], { step, mark: { step } }).catch(() => {})
    }
    if (mine === epoch) await into.finish()
  }
  let exploring = explore(0)
  const batches: string[] = []
  // More than all uses of all experiences could fill: a buffer that never ends is wrong too.
  for (let step = 1; step < 100; step++) {
    await pause()
    asked = step
    const minModelVersion = rest.minModelVersion?.(step)
    const batch = await buffer.take(BATCH, { through: step, deadlineMs: 5000, minModelVersion }).catch((error) => {
      epoch++
      throw error
    })
    if (batch.length === 0) break
    batches.push(batch.map(name).join(', '))
    await buffer.state()
    if (step !== killAt) continue
    const cut = JSON.parse(JSON.stringify(await buffer.cut()))
    await pause()
    epoch++
    await exploring
    await buffer.close()
    buffer = await open()
    await buffer.restore(cut)
    const done = (cut.marks.explorer as { step: number } | undefined)?.step ?? 0
    await buffer.put([], { step: done })
    exploring = explore(done)
  }
  epoch++
  await exploring
  await buffer.close()
  return batches
}

let dir: string
let files = 0
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-replay-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Opens the same place again and again. */
function opener(kind: string, replay: Given<ReplayBufferConfig>, capacity: number): () => Promise<ExperienceBuffer> {
  const path = kind === 'memory' ? undefined : `sqlite:///${join(dir, `${files++}.db`)}`
  const storage_type = kind === 'sql' ? 'sql' : 'queue'
  const config: GivenBuffer = { name: 'q', storage_type, path, capacity, replay_buffer: { enable: true, ...replay } }
  return () => openBuffer(config, { seed: 3 })
}

const noisy = { priority_fn: 'decay_limit_randomization', priority_fn_args: { sigma: 2, use_count_limit: 3 } }

describe.each([
  ['memory', 6],
  ['kept', 2],
  ['sql', 2],
] as const)('what a training step gets from a replay buffer (%s)', (kind, rounds) => {
  it.each<[string, Given<ReplayBufferConfig>, number]>([
    ['each used once', {}, 1000],
    ['each used once, too small a queue', {}, 10],
    ['reuse at once', { reuse_cooldown_time: 0, priority_fn_args: { decay: 0.6 } }, 1000],
    [
      'reuse at once, equal priorities, too small a queue',
      { reuse_cooldown_time: 0, priority_fn_args: { decay: 1 } },
      10,
    ],
    ['reuse with noise', { ...noisy, reuse_cooldown_time: 0 }, 14],
  ])('does not depend on speed or kills: %s', { timeout: 60_000 }, async (_, replay, capacity) => {
    for (let seed = 1; seed <= rounds; seed++) {
      const open = () => opener(kind, replay, capacity)
      const minModelVersion = seed % 3 === 0 ? (step: number) => Math.max(0, step - 4) : undefined
      const expected = await play(open(), { seed, minModelVersion })
      expect(expected.length).toBeGreaterThan(2)
      for (const delays of [1, 2, 3].map((i) => seed * 10 + i)) {
        expect(await play(open(), { seed, delays, minModelVersion }), `${seed} ${delays}`).toEqual(expected)
        const killAt = 1 + (delays % (expected.length - 1))
        const killed = await play(open(), { seed, delays, killAt, minModelVersion })
        expect(killed, `${seed} ${delays}, killed behind step ${killAt}`).toEqual(expected)
      }
    }
  })
})

it('chooses from as few further steps as will do, and never from more', async () => {
  const buffer = await opener('memory', {}, 100)()
  const put = (step: number, size: number) =>
    buffer.put(
      Array.from({ length: size }, (_, task) =>
        createExperience({ tokens: [1, 2], modelVersion: step, eid: makeEid({ batch: step, task }) }),
      ),
      { step },
    )
  const batches = async (through: number) => (await buffer.take(2, { through, deadlineMs: 50 })).map((e) => e.eid.batch)
  for (const [step, size] of [3, 1, 1, 2].entries()) await put(step + 1, size)
  expect(await buffer.state()).toMatchObject({ ready: 7 })
  expect(await batches(1)).toEqual([1, 1])
  // One of step 1 is left, so step 2 is let in, and nothing behind it.
  expect(await batches(1)).toEqual([1, 2])
  expect(await batches(4)).toEqual([4, 4])
  const late = buffer.take(1, { through: 5, deadlineMs: 20, who: 'trainer' })
  await expect(late).rejects.toThrow(/1 experiences of 'q', of explorer steps up to 5: 1 are available/)
  // An empty step is a step too.
  await buffer.put([], { step: 5 })
  expect((await buffer.take(1, { through: 5 })).map((e) => e.eid.batch)).toEqual([3])
})

it('without steps, too, equals come out by id, in whatever order they came', async () => {
  const random = new Pcg64(5)
  const orders = []
  for (let round = 0; round < 8; round++) {
    const buffer = await opener('memory', noisy, 100)()
    const lists = Array.from({ length: 12 }, (_, i) => [
      createExperience({ tokens: [1, 2], modelVersion: i % 3, eid: makeEid({ batch: i, task: 0 }) }),
    ])
    const shuffled = lists.map((list) => ({ list, at: random.random() })).sort((a, b) => a.at - b.at)
    for (const { list } of round === 0 ? lists.map((one) => ({ list: one })) : shuffled) await buffer.put(list)
    orders.push((await buffer.take(12)).map((e) => e.eid.batch))
  }
  expect(new Set(orders.map(String)).size).toBe(1)
  expect(orders[0]).not.toEqual([...orders[0]].sort())
})
