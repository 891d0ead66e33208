import { describe, expect, it } from 'vitest'
import { loadAddon, type NativeConfig, type NativeHandle, type NativePack, type NativeScores } from './addon.js'
import { random, tinyAdapters, tinyConfig, tinyModel, tinyPack } from './tiny.fixture.js'

const addon = loadAddon()
const kinds = ['logprob', 'entropy', 'sum_pi_squared', 'others', 'value'] as const

/** Weights of an arbitrary loss Σ c·score; the gradient check differentiates that. */
function coefficients({ rows, others }: NativePack, head: NativeConfig['head']): NativeScores {
  const next = random(99)
  const draw = (length = rows.length) => Float32Array.from({ length }, () => next() * 2 - 1)
  if (head !== 'lm') return { value: draw() }
  return { logprob: draw(), entropy: draw(), ...(others && { sum_pi_squared: draw(), others: draw(others.length) }) }
}

async function loss(model: NativeHandle, pack: NativePack, weights: NativeScores, keep = false): Promise<number> {
  const scores = await addon.forward(model, pack, true, keep)
  let sum = 0
  for (const kind of kinds) {
    for (const [i, c] of (weights[kind] ?? []).entries()) sum += c * scores[kind]![i]
  }
  return sum
}

/** Compares <gradient, u> with the central difference along u, u random over one whole tensor. */
async function check(config: NativeConfig, pack: NativePack): Promise<string[]> {
  const model = await tinyModel(config)
  const weights = coefficients(pack, config.head)
  await loss(model, pack, weights, true)
  await addon.backward(model, weights)
  const seen: string[] = []
  const next = random(5)
  for (const { name, trained } of addon.params(model)) {
    if (!trained) continue
    const [start, gradient] = [await addon.read(model, name, 'weight'), await addon.read(model, name, 'gradient')]
    const u = Float32Array.from(start, () => (next() < 0.5 ? -1 : 1))
    const eps = 4e-3 / Math.sqrt(Math.max(1, start.length / 16))
    const at = async (step: number) => {
      await addon.write(
        model,
        name,
        'weight',
        start.map((w, i) => w + step * u[i]),
      )
      return loss(model, pack, weights)
    }
    const slope = async (step: number) => ((await at(step)) - (await at(-step))) / (2 * step)
    // Two step sizes: the third-order term cancels, which strong curvature would otherwise leave.
    const numeric = (4 * (await slope(eps / 2)) - (await slope(eps))) / 3
    await addon.write(model, name, 'weight', start)
    let exact = 0
    let size = 0
    gradient.forEach((g, i) => {
      exact += g * u[i]
      size += g * g
    })
    expect(size, `${name} gets a gradient`).toBeGreaterThan(0)
    expect(Math.abs(exact - numeric) / (Math.sqrt(size) + 0.05), `${name}: ${exact} against ${numeric}`).toBeLessThan(
      0.02,
    )
    seen.push(name)
  }
  await addon.close(model)
  return seen
}

describe('gradients against central differences', () => {
  it.each<[string, Partial<NativeConfig>]>([
    ['Llama, untied', {}],
    ['Llama, tied, biases everywhere', { tied: true, qkvBias: true, outBias: true, mlpBias: true }],
    ['Qwen2: q, k, v biases', { qkvBias: true }],
    ['Qwen3: q and k norms', { qkNorm: true, tied: true }],
    ['check-pointed', { qkNorm: true, checkpointing: true }],
    ['one wide head', { heads: 1, kvHeads: 1, headDim: 40, hidden: 33, inner: 65 }],
    [
      'OLMo 2: norms behind, of q and k as a whole',
      { normBefore: false, normAfter: true, qkNorm: true, wideNorm: true },
    ],
    ['norms behind, check-pointed', { normBefore: false, normAfter: true, checkpointing: true }],
    ['SmolLM3: a layer without positions', { unturned: Int32Array.of(1) }],
    ['Phi-3: joined matrices, a part of each head turned', { fused: true, invFreq: Float32Array.of(1, 0.1) }],
    [
      'Gemma 2: norms around, capped scores and logits',
      { normAfter: true, normUnit: 1, gelu: true, embedScale: 3, attentionCap: 0.7, logitCap: 2, tied: true },
    ],
    ['Gemma 2, check-pointed', { normAfter: true, normUnit: 1, attentionCap: 0.7, checkpointing: true }],
    ['Gemma 3: two rotations, norms of q and k', { near: Int32Array.of(0), qkNorm: true, normUnit: 1, gelu: true }],
    // All of them: where another expert is chosen there is no derivative.
    [
      'Qwen3-MoE: experts in one layer',
      { sparse: Int32Array.of(1), experts: 4, active: 4, expertInner: 9, normActive: true },
    ],
    [
      'experts with shares as they are, check-pointed',
      { sparse: Int32Array.of(0, 1), experts: 3, active: 3, expertInner: 9, checkpointing: true },
    ],
    ['windows', { windows: Int32Array.of(7, 40), ropeScale: 1.2 }],
    ['value head', { head: 'value' }],
    ['value head over a tied model', { head: 'value', tied: true }],
  ])('%s', async (_, change) => {
    const config = tinyConfig(change)
    const seen = await check(config, tinyPack(config.vocab, [5, 1, 9, 70, 2], 3, 1, 0.8))
    expect(seen).toContain(config.head === 'value' ? 'score.weight' : 'model.norm.weight')
    expect(seen).toContain('model.embed_tokens.weight')
  })

  it('a tree of sequences that go on from each other, scored after a branch too', async () => {
    const config = tinyConfig({ qkNorm: true })
    const pack = tinyPack(config.vocab, [40, 5, 37, 1, 9, 3], 3, 1, 0.8)
    await check(config, { ...pack, prefix: Int32Array.of(-1, 0, 1, 2, 1, -1) })
  })

  it('Σπ² and log-probs of other tokens, over a vocabulary of several chunks', async () => {
    const config = tinyConfig({ vocab: 1100, tied: true })
    const pack = tinyPack(config.vocab, [6, 40, 3], 3, 2, 0.8)
    const next = random(7)
    // some twice, some the token itself
    const others = Int32Array.from({ length: 3 * pack.rows.length }, (_, i) =>
      i % 5 === 0 ? pack.targets[i % pack.rows.length] : Math.floor(next() * config.vocab),
    )
    await check(config, { ...pack, others })
  })

  it('LoRA on every module: only the adapter is trained', async () => {
    const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].map((name) => `self_attn.${name}`)
    const targets = [...attention, 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj']
    const config = tinyConfig({ adapters: tinyAdapters(targets, 3, 0.5), qkNorm: true })
    const seen = await check(config, tinyPack(config.vocab, [6, 40, 3], 3, 2))
    expect(seen).toHaveLength(config.layers * targets.length * 2)
    expect(seen.every((name) => name.includes('lora_'))).toBe(true)
  })

  it('LoRA of a rank and a scale of its own in each module, wider than a register too', async () => {
    const adapters = [
      { module: 'model.layers.0.self_attn.q_proj', rank: 3, scale: 0.5 },
      { module: 'model.layers.0.self_attn.v_proj', rank: 19, scale: 2 },
      { module: 'model.layers.1.mlp.down_proj', rank: 1, scale: 4 },
    ]
    const config = tinyConfig({ adapters })
    expect(await check(config, tinyPack(config.vocab, [6, 40, 3], 3, 2))).toHaveLength(6)
  })

  it('LoRA on the embedding and the head, over a vocabulary of several chunks', async () => {
    const adapters = [
      { module: 'model.embed_tokens', rank: 3, scale: 2 },
      { module: 'lm_head', rank: 17, scale: 0.5 },
      { module: 'model.layers.0.self_attn.q_proj', rank: 2, scale: 1 },
    ]
    const config = tinyConfig({ adapters, vocab: 1100, padId: 7 })
    const pack = tinyPack(config.vocab, [6, 40, 3], 3, 2)
    const seen = await check(config, pack)
    expect(seen).toHaveLength(6)
    expect(seen).toContain('model.embed_tokens.lora_embedding_A')
    expect(seen).toContain('lm_head.lora_B.weight')
  })

  it('LoRA under a value head trains both', async () => {
    const config = tinyConfig({ adapters: tinyAdapters(['self_attn.q_proj'], 2, 1), head: 'value' })
    const seen = await check(config, tinyPack(config.vocab, [6, 12], 3))
    expect(seen).toContain('score.weight')
    expect(seen).toContain('score.bias')
  })
})
