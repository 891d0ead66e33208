/** Tiny random models and batches for the tests of this folder. */
import { inverseFrequencies } from '../../model/rope.js'
import { loadAddon, type NativeAdapter, type NativeConfig, type NativeHandle, type NativePack } from './addon.js'

/** Small generator with a full-period 32-bit state: tests must not depend on Math.random. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export function tinyConfig(change: Partial<NativeConfig> = {}): NativeConfig {
  const config: NativeConfig = {
    hidden: 16,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    headDim: 6,
    inner: 20,
    vocab: 23,
    maxLen: 256,
    padId: -1,
    eps: 1e-5,
    tied: false,
    qkvBias: false,
    outBias: false,
    mlpBias: false,
    qkNorm: false,
    wideNorm: false,
    normBefore: true,
    normAfter: false,
    normUnit: 0,
    fused: false,
    gelu: false,
    experts: 0,
    active: 0,
    expertInner: 0,
    normActive: false,
    sparse: new Int32Array(0),
    embedScale: 1,
    attentionScale: 0,
    attentionCap: 0,
    logitCap: 0,
    windows: new Int32Array(0),
    unturned: new Int32Array(0),
    head: 'lm',
    trainable: true,
    checkpointing: false,
    adapters: [],
    invFreq: new Float32Array(0),
    nearFreq: new Float32Array(0),
    near: new Int32Array(0),
    ropeScale: 1,
    ...change,
  }
  const frequencies = (theta: number) => inverseFrequencies({ theta, scaling: { type: 'default' } }, config.headDim)
  if (!change.invFreq) config.invFreq = frequencies(10000)
  if (!change.nearFreq) config.nearFreq = frequencies(300)
  config.attentionScale ||= config.headDim ** -0.5
  return config
}

/** Adapters of these modules in every layer of a tiny model. */
export function tinyAdapters(modules: readonly string[], rank: number, scale: number): NativeAdapter[] {
  return [0, 1].flatMap((layer) => modules.map((path) => ({ module: `model.layers.${layer}.${path}`, rank, scale })))
}

export async function tinyModel(config: NativeConfig, seed = 1): Promise<NativeHandle> {
  const addon = loadAddon()
  const model = await addon.open(config)
  const next = random(seed)
  for (const { name, rows, cols } of addon.params(model)) {
    const values = new Float32Array(rows * cols)
    const norm = name.includes('norm')
    for (let i = 0; i < values.length; i++) {
      const gauss = (next() + next() + next() + next() - 2) * 1.7
      values[i] = norm ? 1 + 0.2 * gauss : gauss * 0.35
    }
    await addon.write(model, name, 'weight', values)
  }
  return model
}

/** Random sequences; of each, tokens from `start` on are scored. */
export function tinyPack(vocab: number, lengths: number[], seed = 7, from = 1, temperature = 1): NativePack {
  const next = random(seed)
  const ids = Int32Array.from({ length: lengths.reduce((sum, n) => sum + n, 0) }, () => Math.floor(next() * vocab))
  const rows: number[] = []
  let at = 0
  for (const length of lengths) {
    for (let i = Math.min(from, length); i < length; i++) rows.push(at + i - 1)
    at += length
  }
  return {
    ids,
    lengths: Int32Array.from(lengths),
    rows: Int32Array.from(rows),
    targets: Int32Array.from(rows, (row) => ids[row + 1]),
    invT: new Float32Array(rows.length).fill(1 / temperature),
  }
}
