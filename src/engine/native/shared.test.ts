import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Row } from '../contract.js'
import { packRows } from '../pack.js'
import { loadAddon, type NativeConfig, type NativePack, type NativeScores } from './addon.js'
import type { Distinct } from './distinct.js'
import { packed, packedShared, sharedCounter } from './packed.js'
import { random, tinyAdapters, tinyConfig, tinyModel } from './tiny.fixture.js'

const addon = loadAddon()
const threads = addon.threads()

/** Answers to prompts, several to each, in any order. */
interface Sizes {
  readonly prompt: number
  readonly answers: readonly number[]
}

function answers(seed: number, vocab: number, sizes: readonly Sizes[]): Row[] {
  const next = random(seed)
  const draw = (length: number) => Array.from({ length }, () => Math.floor(next() * vocab))
  const rows = sizes.flatMap(({ prompt, answers }) => {
    const shared = draw(prompt)
    return answers.map((length) => ({ tokens: Int32Array.from([...shared, ...draw(length)]), start: prompt, length }))
  })
  const order = rows.map((row) => ({ row, key: next() })).sort((a, b) => a.key - b.key)
  return order.map(({ row: { tokens, start } }, i) => rowOf(tokens, start, i))
}

function rowOf(tokens: Int32Array, start: number, i: number): Row {
  const mask = new Uint8Array(tokens.length - start).fill(1)
  return { id: String(i), tokens, start, mask, temperature: i % 3 ? 0.8 : 1, columns: {} }
}

/** Each row but the first goes on from a point of an earlier one: 0 is its beginning, 1 its end. */
interface Branch {
  readonly from: number
  readonly point: number
  readonly own: number
  readonly start: number
}

function branches(seed: number, vocab: number, list: readonly Branch[]): Row[] {
  const next = random(seed)
  const rows: Row[] = []
  for (const [i, { from, point, own, start }] of list.entries()) {
    const whole = rows.length === 0 ? new Int32Array(0) : rows[Math.floor(from * rows.length)].tokens
    const kept = whole.subarray(0, Math.round(point * whole.length))
    const tokens = Int32Array.from([...kept, ...Array.from({ length: own }, () => Math.floor(next() * vocab))])
    const some = tokens.length > 0 ? tokens : Int32Array.of(1)
    rows.push(rowOf(some, Math.max(1, Math.round(start * some.length)), i))
  }
  return rows
}

async function learn(config: NativeConfig, pack: NativePack, distinct?: Distinct) {
  const model = await tinyModel(config)
  const found = Object.entries(await addon.forward(model, pack, true, true))
  const scores: NativeScores = Object.fromEntries(
    found.map(([kind, part]) => [kind, distinct ? distinct.deal(part) : part]),
  )
  const sum = (grads?: Float32Array) => grads && (distinct ? distinct.sum(grads) : grads)
  const some = (part?: Float32Array) => sum(part?.map((_, i) => Math.sin(i) / 10))
  await addon.backward(model, {
    logprob: some(scores.logprob),
    entropy: some(scores.entropy),
    value: some(scores.value),
    others: some(scores.others),
  })
  const grads: Float32Array[] = []
  for (const { name, trained } of addon.params(model)) {
    if (trained) grads.push(await addon.read(model, name, 'gradient'))
  }
  await addon.close(model)
  return { scores, grads }
}

function learnShared(config: NativeConfig, rows: readonly Row[], others: readonly Int32Array[] = []) {
  const { pack, scores } = packedShared(rows, others)
  return learn(config, pack, scores)
}

function distance(found: Float32Array, expected: Float32Array): number {
  const length = Math.hypot(...expected) || 1
  return Math.hypot(...found.map((x, i) => x - expected[i])) / length
}

/** Learns rows of any kind on any model, whole and shared, and compares. */
async function same<T>(any: fc.Arbitrary<T>, make: (seed: number, vocab: number, of: T) => Row[], numRuns: number) {
  await fc.assert(
    fc.asyncProperty(
      any,
      fc.nat(1e6),
      fc.record({
        heads: fc.constantFrom([1, 1], [4, 2], [6, 3], [3, 1]),
        headDim: fc.constantFrom(2, 6, 16, 34),
        hidden: fc.integer({ min: 3, max: 40 }),
        qkNorm: fc.boolean(),
        tied: fc.boolean(),
        checkpointing: fc.boolean(),
        normAfter: fc.boolean(),
        windows: fc.constantFrom(new Int32Array(0), Int32Array.of(0, 9), Int32Array.of(50, 33)),
        head: fc.constantFrom('lm' as const, 'value' as const),
        loraRank: fc.constantFrom(0, 4),
        asked: fc.boolean(),
      }),
      async (of, seed, { heads, loraRank, asked, ...shape }) => {
        const targets = loraRank > 0 ? ['self_attn.q_proj', 'self_attn.v_proj', 'mlp.down_proj'] : []
        const adapters = tinyAdapters(targets, loraRank, 0.5)
        const config = tinyConfig({ ...shape, adapters, heads: heads[0], kvHeads: heads[1], maxLen: 1024 })
        const rows = make(seed, config.vocab, of)
        const pack = packed(rows)
        const others = asked && config.head === 'lm' ? [pack.targets.map((_, i) => (i * i) % 2)] : []
        const whole = await learn(config, { ...pack, others: others[0] })
        const shared = await learnShared(config, rows, others)
        expect(shared.scores).toEqual(whole.scores)
        // A norm behind a small branch divides by it, and its rounding too.
        const rounding = shape.normAfter ? 2e-4 : 2e-5
        for (const [i, grad] of shared.grads.entries()) expect(distance(grad, whole.grads[i])).toBeLessThan(rounding)
      },
    ),
    { numRuns },
  )
}

describe('what several rows begin with is computed once', () => {
  afterEach(() => addon.setThreads(threads))

  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const anyBranches = fc.array(
    fc.record({ from: share, point: share, own: fc.integer({ min: 0, max: 50 }), start: share }),
    { minLength: 1, maxLength: 10 },
  )
  const anySizes = fc.array(
    fc.record({
      prompt: fc.integer({ min: 1, max: 70 }),
      answers: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 5 },
  )

  it('scores to the last bit and gradients to rounding are those of whole rows', async () => {
    await same(anySizes, answers, 40)
  })

  it('whole trees of any depth too: rows that go on from each other, also after scored tokens', async () => {
    await same(anyBranches, branches, 60)
  })

  it('takes the tokens that it saves', () => {
    const rows = answers(1, 20_000, [
      { prompt: 30, answers: [5, 6, 7] },
      { prompt: 4, answers: [3] },
    ])
    expect(packed(rows).ids.length).toBe(3 * 30 + 4 + 5 + 6 + 7 + 3 - 4)
    expect(packedShared(rows).pack.ids.length).toBe(30 + 4 + 5 + 6 + 7 + 3 - 4)
    const packs = packRows(rows, 60, 'row', sharedCounter)
    expect(packs).toHaveLength(1)
    expect(packRows(rows, 60)).not.toHaveLength(1)
  })

  it('takes the longest row of a session alone, whose other rows it begins with', () => {
    const all = Int32Array.from({ length: 100 }, (_, i) => i % 23)
    const rows = [20, 50, 75, 100].map((length, i) => rowOf(all.subarray(0, length), length - 15, i))
    const { ids, prefix } = packedShared(rows).pack
    expect(ids).toEqual(all.subarray(0, 99))
    expect(prefix).toBeUndefined()
    expect(packRows(rows, 100, 'row', sharedCounter)).toHaveLength(1)
  })

  it('counts what it packs', () => {
    fc.assert(
      fc.property(anyBranches, fc.nat(1e6), (list, seed) => {
        const rows = branches(seed, 5, list)
        const count = sharedCounter()
        expect(rows.reduce((sum, row) => sum + count(row), 0)).toBe(packedShared(rows).pack.ids.length)
      }),
    )
  })

  it('gives the same bits on 1, 2 and 5 threads', async () => {
    const config = tinyConfig({ hidden: 40, heads: 6, kvHeads: 3, headDim: 16, qkNorm: true })
    const rows = answers(9, config.vocab, [
      { prompt: 33, answers: [20, 40, 1, 7] },
      { prompt: 5, answers: [12, 3] },
      { prompt: 64, answers: [2, 2, 9] },
    ])
    const deep = Array.from({ length: 9 }, (_, i) => ({ from: 0.9, point: 0.7, own: 10 + 7 * i, start: i / 10 }))
    rows.push(...branches(4, config.vocab, deep))
    const results = []
    for (const count of [1, 2, 5]) {
      addon.setThreads(count)
      results.push(await learnShared(config, rows))
    }
    for (const other of results.slice(1)) expect(other).toEqual(results[0])
  })

  it('refuses a prefix that is none', async () => {
    const config = tinyConfig()
    const model = await tinyModel(config)
    const { pack } = packedShared(answers(2, config.vocab, [{ prompt: 6, answers: [3, 4, 5] }]))
    for (const prefix of [
      [0, 0, 0, 0],
      [-1, 2, 0, 0],
      [-1, 0, 3, 0],
      [-1, 0, 0],
      [-2, 0, 0, 0],
    ]) {
      const wrong = { ...pack, prefix: Int32Array.from(prefix) }
      await expect((async () => addon.forward(model, wrong, true, true))()).rejects.toThrow(/prefix/)
    }
    await addon.close(model)
  })
})
