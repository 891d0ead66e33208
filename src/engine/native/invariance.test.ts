import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { loadAddon, type NativeConfig, type NativeHandle, type NativePack, type NativeScores } from './addon.js'
import { tinyConfig, tinyModel, tinyPack } from './tiny.fixture.js'

const addon = loadAddon()
const threads = addon.threads()

/** One sequence of a pack on its own. */
function alone(pack: NativePack, sequence: number): NativePack {
  const start = pack.lengths.slice(0, sequence).reduce((sum, n) => sum + n, 0)
  const end = start + pack.lengths[sequence]
  const scored = [...pack.rows.keys()].filter((i) => pack.rows[i] >= start && pack.rows[i] < end)
  return {
    ids: pack.ids.slice(start, end),
    lengths: pack.lengths.slice(sequence, sequence + 1),
    rows: Int32Array.from(scored, (i) => pack.rows[i] - start),
    targets: Int32Array.from(scored, (i) => pack.targets[i]),
    invT: Float32Array.from(scored, (i) => pack.invT[i]),
  }
}

async function learn(
  config: NativeConfig,
  packs: NativePack[],
): Promise<{ scores: NativeScores[]; weights: Float32Array[] }> {
  const model = await tinyModel(config)
  const scores: NativeScores[] = []
  for (const pack of packs) {
    const own = await addon.forward(model, pack, true, true)
    scores.push(own)
    const ones = (part?: Float32Array) => part?.map((_, i) => Math.sin(i) / 10)
    await addon.backward(model, { logprob: ones(own.logprob), entropy: ones(own.entropy), value: ones(own.value) })
  }
  await addon.step(model, { lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0.1, gradClip: 1 })
  return { scores, weights: await allWeights(model) }
}

async function allWeights(model: NativeHandle): Promise<Float32Array[]> {
  const all = []
  for (const { name } of addon.params(model)) all.push(await addon.read(model, name, 'weight'))
  await addon.close(model)
  return all
}

describe('results do not depend on', () => {
  afterEach(() => addon.setThreads(threads))

  it('the number of threads: a step gives the same bits on 1, 2 and 5', async () => {
    const config = tinyConfig({
      hidden: 96,
      inner: 150,
      heads: 6,
      kvHeads: 3,
      headDim: 16,
      vocab: 1500,
      qkNorm: true,
      tied: true,
    })
    const pack = tinyPack(config.vocab, [3, 90, 41, 1, 133, 64], 5)
    const results = []
    for (const count of [1, 2, 5]) {
      addon.setThreads(count)
      results.push(await learn(config, [pack]))
    }
    for (const other of results.slice(1)) expect(other).toEqual(results[0])
  })

  it('what else is packed: a sequence scores the same bits alone and in any company', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          lengths: fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 64 }),
          heads: fc.constantFrom([1, 1], [4, 2], [6, 3], [3, 1]),
          headDim: fc.constantFrom(2, 6, 16, 34),
          hidden: fc.integer({ min: 3, max: 70 }),
          inner: fc.integer({ min: 1, max: 90 }),
          vocab: fc.integer({ min: 2, max: 70 }),
          qkNorm: fc.boolean(),
          tied: fc.boolean(),
          temperature: fc.constantFrom(0.6, 1, 1.7),
          from: fc.integer({ min: 1, max: 5 }),
        }),
        async ({ lengths, heads, temperature, from, ...shape }) => {
          const config = tinyConfig({ ...shape, heads: heads[0], kvHeads: heads[1], layers: 1, trainable: false })
          const model = await tinyModel(config)
          const pack = tinyPack(config.vocab, lengths, 3, from, temperature)
          const whole = await addon.forward(model, pack, true, false)
          let at = 0
          for (const sequence of lengths.keys()) {
            const one = alone(pack, sequence)
            if (one.rows.length === 0) continue
            const own = await addon.forward(model, one, true, false)
            expect(own.logprob).toEqual(whole.logprob!.slice(at, at + one.rows.length))
            expect(own.entropy).toEqual(whole.entropy!.slice(at, at + one.rows.length))
            at += one.rows.length
          }
          for (const x of whole.logprob ?? []) expect(x).toBeLessThanOrEqual(0)
          await addon.close(model)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('the split into micro-batches: weights after a step agree to the last bits', async () => {
    const config = tinyConfig({ qkvBias: true, vocab: 40 })
    const pack = tinyPack(config.vocab, [5, 40, 1, 13, 64], 5)
    const parts = [...pack.lengths.keys()].map((i) => alone(pack, i)).filter((part) => part.rows.length > 0)
    const whole = await learn(config, [pack])
    const model = await tinyModel(config)
    let at = 0
    for (const part of parts) {
      const { logprob } = await addon.forward(model, part, true, true)
      const grads = Float32Array.from(logprob!, (_, i) => Math.sin(at + i) / 10)
      await addon.backward(model, { logprob: grads, entropy: grads })
      at += grads.length
    }
    await addon.step(model, { lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0.1, gradClip: 1 })
    for (const [i, weights] of (await allWeights(model)).entries()) {
      for (const [j, x] of weights.entries()) expect(Math.abs(x - whole.weights[i][j])).toBeLessThan(2e-4)
    }
  })

  it('check-pointing: recomputed activations are the same bits', async () => {
    const pack = tinyPack(23, [5, 40, 13], 5)
    const plain = await learn(tinyConfig({ qkNorm: true }), [pack])
    expect(await learn(tinyConfig({ qkNorm: true, checkpointing: true }), [pack])).toEqual(plain)
  })
})
