import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Row } from '../contract.js'
import { packRows } from '../pack.js'
import { loadAddon, type NativeConfig, type NativePack, type NativeScores } from './addon.js'
import { packed, packedShared, sharedCounter } from './packed.js'
import { random, tinyAdapters, tinyConfig, tinyModel } from './tiny.fixture.js'

const addon = loadAddon()
const threads = addon.threads()

/** Answers to prompts, several to each, in any order. */
function answers(seed: number, vocab: number, sizes: readonly { prompt: number; answers: readonly number[] }[]): Row[] {
  const next = random(seed)
  const draw = (length: number) => Array.from({ length }, () => Math.floor(next() * vocab))
  const rows = sizes.flatMap(({ prompt, answers }) => {
    const shared = draw(prompt)
    return answers.map((length) => ({ tokens: Int32Array.from([...shared, ...draw(length)]), start: prompt, length }))
  })
  const order = rows.map((row) => ({ row, key: next() })).sort((a, b) => a.key - b.key)
  return order.map(({ row: { tokens, start, length } }, i) => ({
    id: String(i),
    tokens,
    start,
    mask: new Uint8Array(length).fill(1),
    temperature: i % 2 ? 0.8 : 1,
    columns: {},
  }))
}

async function learn(config: NativeConfig, pack: NativePack): Promise<{ scores: NativeScores; grads: Float32Array[] }> {
  const model = await tinyModel(config)
  const scores = await addon.forward(model, pack, true, true)
  const some = (part?: Float32Array) => part?.map((_, i) => Math.sin(i) / 10)
  await addon.backward(model, {
    logprob: some(scores.logprob),
    entropy: some(scores.entropy),
    value: some(scores.value),
  })
  const grads: Float32Array[] = []
  for (const { name, trained } of addon.params(model)) {
    if (trained) grads.push(await addon.read(model, name, 'gradient'))
  }
  await addon.close(model)
  return { scores, grads }
}

function distance(found: Float32Array, expected: Float32Array): number {
  const length = Math.hypot(...expected) || 1
  return Math.hypot(...found.map((x, i) => x - expected[i])) / length
}

describe('a prompt that several rows begin with is computed once', () => {
  afterEach(() => addon.setThreads(threads))

  const anySizes = fc.array(
    fc.record({
      prompt: fc.integer({ min: 1, max: 70 }),
      answers: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 5 },
  )

  it('scores to the last bit and gradients to rounding are those of whole rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        anySizes,
        fc.nat(1e6),
        fc.record({
          heads: fc.constantFrom([1, 1], [4, 2], [6, 3], [3, 1]),
          headDim: fc.constantFrom(2, 6, 16, 34),
          hidden: fc.integer({ min: 3, max: 40 }),
          qkNorm: fc.boolean(),
          tied: fc.boolean(),
          checkpointing: fc.boolean(),
          head: fc.constantFrom('lm' as const, 'value' as const),
          loraRank: fc.constantFrom(0, 4),
        }),
        async (sizes, seed, { heads, loraRank, ...shape }) => {
          const targets = loraRank > 0 ? ['self_attn.q_proj', 'self_attn.v_proj', 'mlp.down_proj'] : []
          const adapters = tinyAdapters(targets, loraRank, 0.5)
          const config = tinyConfig({ ...shape, adapters, heads: heads[0], kvHeads: heads[1] })
          const rows = answers(seed, config.vocab, sizes)
          const whole = await learn(config, packed(rows))
          const shared = await learn(config, packedShared(rows))
          expect(shared.scores).toEqual(whole.scores)
          for (const [i, grad] of shared.grads.entries()) expect(distance(grad, whole.grads[i])).toBeLessThan(2e-5)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('takes the tokens that it saves', () => {
    const rows = answers(1, 20, [
      { prompt: 30, answers: [5, 6, 7] },
      { prompt: 4, answers: [3] },
    ])
    expect(packed(rows).ids.length).toBe(3 * 30 + 4 + 5 + 6 + 7 + 3 - 4)
    expect(packedShared(rows).ids.length).toBe(30 + 4 + 5 + 6 + 7 + 3 - 4)
    const packs = packRows(rows, 60, 'row', sharedCounter)
    expect(packs).toHaveLength(1)
    expect(packRows(rows, 60)).not.toHaveLength(1)
  })

  it('gives the same bits on 1, 2 and 5 threads', async () => {
    const config = tinyConfig({ hidden: 40, heads: 6, kvHeads: 3, headDim: 16, qkNorm: true })
    const rows = answers(9, config.vocab, [
      { prompt: 33, answers: [20, 40, 1, 7] },
      { prompt: 5, answers: [12, 3] },
      { prompt: 64, answers: [2, 2, 9] },
    ])
    const results = []
    for (const count of [1, 2, 5]) {
      addon.setThreads(count)
      results.push(await learn(config, packedShared(rows)))
    }
    for (const other of results.slice(1)) expect(other).toEqual(results[0])
  })

  it('refuses a prefix that is none', async () => {
    const config = tinyConfig()
    const model = await tinyModel(config)
    const pack = packedShared(answers(2, config.vocab, [{ prompt: 6, answers: [3, 4, 5] }]))
    for (const prefix of [
      [0, 0, 0, 0],
      [-1, 2, 0, 0],
      [-1, 0, 1, 0],
      [-1, 0, 0],
      [-2, 0, 0, 0],
    ]) {
      const wrong = { ...pack, prefix: Int32Array.from(prefix) }
      await expect((async () => addon.forward(model, wrong, true, true))()).rejects.toThrow(/prefix/)
    }
    await addon.close(model)
  })
})
