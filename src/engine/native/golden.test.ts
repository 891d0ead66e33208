import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixture, testData, tinyModels } from '../../../test/support/test-data.js'
import { openModelDir } from '../../model/dir.js'
import { loadAddon, type NativeHandle, type NativePack } from './addon.js'
import { nativeConfig } from './config.js'

const addon = loadAddon()

interface Gradient {
  norm: number
  norms: Record<string, number>
  samples: Record<string, [number, number][]>
}
interface Golden {
  scores: { tokens: number[]; temperature: number; logprobs: number[]; entropies: number[] }[]
  gradient: Gradient & { rows: { tokens: number[]; temperature: number; d_logprob: number[]; d_entropy: number[] }[] }
  value: Gradient & {
    rows: { tokens: number[]; values: number[]; d_value: number[] }[]
    head: { weight: number[]; bias: number; d_weight: number[]; d_bias: number }
  }
  adamw: {
    lr: number
    betas: [number, number]
    eps: number
    weight_decay: number
    grad_clip: number
    rows: number[][]
    steps: { loss: number; grad_norm: number }[]
    final: Record<string, [number, number][]>
  }
}

async function open(path: string, head: 'lm' | 'value' = 'lm', trainable = true): Promise<NativeHandle> {
  const dir = await openModelDir(path)
  const model = await addon.open(nativeConfig(dir.config, { path, head }, trainable))
  for (const { name } of addon.params(model)) {
    if (dir.hasTensor(name)) await addon.write(model, name, 'weight', await dir.readTensor(name))
  }
  await dir.close()
  return model
}

/** Every token but the first of each sequence is scored. */
function pack(rows: { tokens: number[]; temperature?: number }[]): NativePack {
  const at: number[] = []
  const invT: number[] = []
  let start = 0
  for (const { tokens, temperature = 1 } of rows) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      at.push(start + i)
      invT.push(1 / temperature)
    }
    start += tokens.length
  }
  const ids = Int32Array.from(rows.flatMap((row) => row.tokens))
  return {
    ids,
    lengths: Int32Array.from(rows, (row) => row.tokens.length),
    rows: Int32Array.from(at),
    targets: Int32Array.from(at, (i) => ids[i + 1]),
    invT: Float32Array.from(invT),
  }
}

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length)
  let most = 0
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]))
  return most
}

async function compareGradient(model: NativeHandle, golden: Gradient): Promise<void> {
  for (const [name, norm] of Object.entries(golden.norms)) {
    const gradient = await addon.read(model, name, 'gradient')
    const own = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0))
    expect(Math.abs(own - norm) / norm, name).toBeLessThan(2e-5)
    const peak = norm / Math.sqrt(gradient.length)
    for (const [i, value] of golden.samples[name]) {
      expect(Math.abs(gradient[i] - value) / (Math.abs(value) + peak), `${name}[${i}]`).toBeLessThan(2e-4)
    }
  }
}

describe.each(tinyModels)('%s against PyTorch and Transformers', (name) => {
  const golden = JSON.parse(readFileSync(join(fixture(name), 'golden.json'), 'utf8')) as Golden

  it('log-probs and entropies', async () => {
    const model = await open(fixture(name), 'lm', false)
    const { logprob, entropy } = await addon.forward(model, pack(golden.scores), true, false)
    expect(
      distance(
        logprob!,
        golden.scores.flatMap((row) => row.logprobs),
      ),
    ).toBeLessThan(2e-5)
    expect(
      distance(
        entropy!,
        golden.scores.flatMap((row) => row.entropies),
      ),
    ).toBeLessThan(2e-5)
    await addon.close(model)
  })

  it('gradients of log-prob and entropy', async () => {
    const model = await open(fixture(name))
    const { rows } = golden.gradient
    await addon.forward(model, pack(rows), true, true)
    await addon.backward(model, {
      logprob: Float32Array.from(rows.flatMap((row) => row.d_logprob)),
      entropy: Float32Array.from(rows.flatMap((row) => row.d_entropy)),
    })
    await compareGradient(model, golden.gradient)
    await addon.close(model)
  })

  it('values and their gradients', async () => {
    const model = await open(fixture(name), 'value')
    const { rows, head } = golden.value
    await addon.write(model, 'score.weight', 'weight', Float32Array.from(head.weight))
    await addon.write(model, 'score.bias', 'weight', Float32Array.of(head.bias))
    // Here every position counts, the last one too.
    const ids = Int32Array.from(rows.flatMap((row) => row.tokens))
    const all = {
      ids,
      lengths: Int32Array.from(rows, (row) => row.tokens.length),
      rows: ids.map((_, i) => i),
      targets: new Int32Array(ids.length),
      invT: new Float32Array(ids.length).fill(1),
    }
    const { value } = await addon.forward(model, all, true, true)
    expect(
      distance(
        value!,
        rows.flatMap((row) => row.values),
      ),
    ).toBeLessThan(2e-5)
    await addon.backward(model, { value: Float32Array.from(rows.flatMap((row) => row.d_value)) })
    expect(distance(await addon.read(model, 'score.weight', 'gradient'), head.d_weight)).toBeLessThan(2e-5)
    expect(distance(await addon.read(model, 'score.bias', 'gradient'), [head.d_bias])).toBeLessThan(1e-5)
    await compareGradient(model, golden.value)
    await addon.close(model)
  })

  it('20 steps of AdamW', async () => {
    const { adamw } = golden
    const model = await open(fixture(name))
    const batch = pack(adamw.rows.map((tokens) => ({ tokens })))
    const count = batch.rows.length
    const [beta1, beta2] = adamw.betas
    const step = {
      lr: adamw.lr,
      beta1,
      beta2,
      eps: adamw.eps,
      weightDecay: adamw.weight_decay,
      gradClip: adamw.grad_clip,
    }
    for (const { loss, grad_norm } of adamw.steps) {
      const { logprob } = await addon.forward(model, batch, true, true)
      expect(-logprob!.reduce((sum, x) => sum + x, 0) / count).toBeCloseTo(loss, 3)
      await addon.backward(model, { logprob: new Float32Array(count).fill(-1 / count) })
      const { gradNorm, applied } = await addon.step(model, step)
      expect(applied).toBe(true)
      expect(Math.abs(gradNorm - grad_norm) / grad_norm).toBeLessThan(5e-3)
    }
    for (const [tensor, samples] of Object.entries(adamw.final)) {
      const weights = await addon.read(model, tensor, 'weight')
      // 20 steps of at most lr each; a hundredth of that is the room for rounding.
      for (const [i, value] of samples)
        expect(Math.abs(weights[i] - value), `${tensor}[${i}]`).toBeLessThan(20 * adamw.lr * 0.01)
    }
    await addon.close(model)
  })
})

describe.each([
  ['stories260K', 'hf', 2e-5],
  ['minimind2_small_hf', '.', 1e-3],
])('%s', (name, folder, tolerance) => {
  const data = testData(`models/${name}`)
  it.skipIf(data.absent)(`log-probs and entropies of a real model${data.note}`, async () => {
    const model = await open(join(data.path, folder), 'lm', false)
    const golden = JSON.parse(readFileSync(join(data.path, 'golden.json'), 'utf8')) as {
      prompt_ids: number[]
      greedy_ids: number[]
      token_logprobs: number[]
      entropies: number[]
    }[]
    const rows = golden.map(({ prompt_ids, greedy_ids }) => ({ tokens: [...prompt_ids, ...greedy_ids] }))
    const { logprob, entropy } = await addon.forward(model, pack(rows), true, false)
    expect(
      distance(
        logprob!,
        golden.flatMap((row) => row.token_logprobs),
      ),
    ).toBeLessThan(tolerance)
    expect(
      distance(
        entropy!,
        golden.flatMap((row) => row.entropies),
      ),
    ).toBeLessThan(tolerance)
    await addon.close(model)
  })
})
