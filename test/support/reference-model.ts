import type { ModelConfig } from '../../src/model/config.js'
import type { ModelDir } from '../../src/model/dir.js'
import type { Experts } from '../../src/model/experts.js'
import { type LayerPart, layerNorms, layerTensor, modelLayout, type NormsAround } from '../../src/model/layout.js'
import { inverseFrequencies, ropeStrength } from '../../src/model/rope.js'

/**
 * A transformer written for reading, in doubles, without batches, caches or kernels: what the configuration and layout
 * of src/model mean. Checked against Transformers' outputs; engines may be checked against it on any shape.
 */
export class ReferenceModel {
  readonly config: ModelConfig
  readonly weights: Map<string, Float32Array>

  constructor(config: ModelConfig, weights: Map<string, Float32Array>) {
    this.config = config
    this.weights = weights
  }

  static async load(dir: ModelDir): Promise<ReferenceModel> {
    const weights = new Map<string, Float32Array>()
    for (const { name } of modelLayout(dir.config)) weights.set(name, await dir.readTensor(name))
    return new ReferenceModel(dir.config, weights)
  }

  /** Final hidden states, normalized: one vector per token. */
  hidden(tokens: ArrayLike<number>): Float64Array[] {
    const { hiddenSize, layers } = this.config
    const embedding = this.weights.get('model.embed_tokens.weight')!
    let states: Float64Array[] = Array.from(tokens, (t) =>
      Float64Array.from(
        embedding.subarray(t * hiddenSize, (t + 1) * hiddenSize),
        (value) => value * this.config.embedScale,
      ),
    )
    const { attention, feed } = layerNorms(this.config)
    for (let layer = 0; layer < layers; layer++) {
      states = this.#around(layer, states, attention, (rows) => this.#attention(layer, rows))
      states = this.#around(layer, states, feed, (rows) => rows.map((x) => this.#mlp(layer, x)))
    }
    return states.map((x) => this.#norm(x, 'model.norm.weight'))
  }

  /** Adds what a part of a layer makes of the normed states, or its norm. */
  #around(
    layer: number,
    states: Float64Array[],
    { before, after }: NormsAround,
    part: (rows: Float64Array[]) => Float64Array[],
  ): Float64Array[] {
    const normed = (rows: Float64Array[], norm?: LayerPart) =>
      norm ? rows.map((x) => this.#norm(x, layerTensor(layer, norm))) : rows
    const made = normed(part(normed(states, before)), after)
    return states.map((x, i) => add(x, made[i]))
  }

  logits(tokens: ArrayLike<number>): Float64Array[] {
    const head = this.weights.get(this.config.tieEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight')!
    return this.hidden(tokens).map((x) => multiply(head, x).map((logit) => capped(logit, this.config.logitCap)))
  }

  /** Log-prob and entropy of tokens 1 … n−1. */
  scores(tokens: ArrayLike<number>, temperature = 1): { logprobs: number[]; entropies: number[] } {
    const logprobs: number[] = []
    const entropies: number[] = []
    const logits = this.logits(tokens)
    for (let i = 0; i + 1 < tokens.length; i++) {
      const scaled = logits[i].map((x) => x / temperature)
      const max = Math.max(...scaled)
      const norm = max + Math.log(scaled.reduce((sum, x) => sum + Math.exp(x - max), 0))
      logprobs.push(scaled[tokens[i + 1]] - norm)
      entropies.push(scaled.reduce((sum, x) => sum - Math.exp(x - norm) * (x - norm), 0))
    }
    return { logprobs, entropies }
  }

  #attention(layer: number, inputs: Float64Array[]): Float64Array[] {
    const { heads, kvHeads, headDim, qkNorm } = this.config
    const project = (part: LayerPart, norm: LayerPart | undefined, count: number) =>
      inputs.map((x, position) => {
        const plain = this.#linear(layer, part, x)
        const whole = norm && qkNorm === 'whole' ? this.#norm(plain, layerTensor(layer, norm)) : plain
        return Array.from({ length: count }, (_, head) => {
          const one = whole.subarray(head * headDim, (head + 1) * headDim)
          if (!norm) return one
          const ready = qkNorm === 'head' ? this.#norm(one, layerTensor(layer, norm)) : one
          return this.config.unturned?.includes(layer) ? ready : this.#rotate(layer, ready, position)
        })
      })
    const q = project('q_proj', 'q_norm', heads)
    const k = project('k_proj', 'k_norm', kvHeads)
    const v = project('v_proj', undefined, kvHeads)
    return inputs.map((_, i) => {
      const out = new Float64Array(heads * headDim)
      for (let head = 0; head < heads; head++) {
        const group = Math.floor(head / (heads / kvHeads))
        const window = this.config.windows?.[layer] || Number.POSITIVE_INFINITY
        const weights = k
          .slice(0, i + 1)
          .map((key, j) => (i - j < window ? Math.exp(this.#score(q[i][head], key[group])) : 0))
        const total = weights.reduce((sum, w) => sum + w, 0)
        for (let j = 0; j <= i; j++) {
          for (let d = 0; d < headDim; d++) out[head * headDim + d] += (weights[j] / total) * v[j][group][d]
        }
      }
      return this.#linear(layer, 'o_proj', out)
    })
  }

  #score(q: Float64Array, k: Float64Array): number {
    return capped(dot(q, k) * this.config.attentionScale, this.config.attentionCap)
  }

  /** The results of the likeliest experts, by their shares. */
  #experts(layer: number, { count, active, normalized }: Experts, x: Float64Array): Float64Array {
    const at = `model.layers.${layer}.mlp`
    const weights = multiply(this.weights.get(`${at}.gate.weight`)!, x).map(Math.exp)
    const all = weights.reduce((sum, w) => sum + w, 0)
    const best = Array.from({ length: count }, (_, e) => e)
      .sort((a, b) => weights[b] - weights[a])
      .slice(0, active)
    const whole = normalized ? best.reduce((sum, e) => sum + weights[e], 0) : all
    return best
      .map((e) => {
        const part = (name: string, y: Float64Array) =>
          multiply(this.weights.get(`${at}.experts.${e}.${name}.weight`)!, y)
        const up = part('up_proj', x)
        const made = part(
          'down_proj',
          part('gate_proj', x).map((g, i) => silu(g) * up[i]),
        )
        return made.map((y) => (y * weights[e]) / whole)
      })
      .reduce<Float64Array>(add, new Float64Array(x.length))
  }

  #mlp(layer: number, x: Float64Array): Float64Array {
    const { experts } = this.config
    if (experts?.layers.includes(layer)) return this.#experts(layer, experts, x)
    const gate = this.#linear(layer, 'gate_proj', x)
    const up = this.#linear(layer, 'up_proj', x)
    const act = this.config.activation === 'gelu' ? gelu : silu
    return this.#linear(
      layer,
      'down_proj',
      gate.map((g, i) => act(g) * up[i]),
    )
  }

  #linear(layer: number, part: LayerPart, x: Float64Array): Float64Array {
    const { fused, heads, kvHeads, headDim, intermediateSize: inner } = this.config
    const joined = fused ? joinedIn(part) : undefined
    if (joined) {
      const sizes = joined[0] === 'qkv_proj' ? [heads * headDim, kvHeads * headDim, kvHeads * headDim] : [inner, inner]
      const first = sizes.slice(0, joined[1]).reduce((sum, n) => sum + n, 0)
      return this.#linear(layer, joined[0], x).subarray(first, first + sizes[joined[1]])
    }
    const out = multiply(this.weights.get(layerTensor(layer, part))!, x)
    const bias = this.weights.get(layerTensor(layer, part, 'bias'))
    return bias ? out.map((y, i) => y + bias[i]) : out
  }

  #norm(x: Float64Array, name: string): Float64Array {
    const weight = this.weights.get(name)!
    const scale = 1 / Math.sqrt(dot(x, x) / x.length + this.config.rmsEps)
    return x.map((value, i) => value * scale * (weight[i] + (this.config.unitNorms ? 1 : 0)))
  }

  /** Dimension i turns with dimension i + half of what is rotated. */
  #rotate(layer: number, x: Float64Array, position: number): Float64Array {
    const { near, rope } = this.config
    const own = near?.layers.includes(layer) ? near.rope : rope
    const frequencies = inverseFrequencies(own, x.length)
    const half = frequencies.length
    const strength = ropeStrength(own)
    return x.map((value, i) => {
      if (i >= 2 * half) return value
      const angle = position * frequencies[i % half]
      return strength * (value * Math.cos(angle) + (i < half ? -x[i + half] : x[i - half]) * Math.sin(angle))
    })
  }
}

const silu = (x: number) => x / (1 + Math.exp(-x))
const gelu = (x: number) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))
const capped = (x: number, cap?: number) => (cap ? cap * Math.tanh(x / cap) : x)

/** The matrix of the file that holds a part, and the place of the part in it. */
function joinedIn(part: LayerPart): [LayerPart, number] | undefined {
  const places: Partial<Record<LayerPart, [LayerPart, number]>> = {
    q_proj: ['qkv_proj', 0],
    k_proj: ['qkv_proj', 1],
    v_proj: ['qkv_proj', 2],
    gate_proj: ['gate_up_proj', 0],
    up_proj: ['gate_up_proj', 1],
  }
  return places[part]
}

function multiply(matrix: Float32Array, x: Float64Array): Float64Array {
  const width = x.length
  return Float64Array.from({ length: matrix.length / width }, (_, row) => {
    let sum = 0
    for (let i = 0; i < width; i++) sum += matrix[row * width + i] * x[i]
    return sum
  })
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}

function add(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => value + b[i])
}
