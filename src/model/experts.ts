import type { ConfigReader } from './config-reader.js'

/** Feed-forward parts of experts, of which each token goes through a few. */
export interface Experts {
  readonly count: number
  /** Those of a token. */
  readonly active: number
  readonly inner: number
  /** The shares of a token's experts add up to 1. */
  readonly normalized: boolean
  /** Layers that have experts; the others are as in models without. */
  readonly layers: readonly number[]
}

/** Of all layers together. The largest published models have a sixth of it, and a hostile file shall not make us list more. */
const mostExperts = 1 << 17

/** As Transformers reads it: every so-many-th layer that is not among `mlp_only_layers`. */
export function readExperts(config: ConfigReader, layers: number): Experts | undefined {
  const count = config.integer(config.has('num_local_experts') ? 'num_local_experts' : 'num_experts', {
    min: 0,
    max: 65536,
    fallback: 128,
  })
  const active = config.integer('num_experts_per_tok', { min: 1, fallback: 8 })
  const step = config.integer('decoder_sparse_step', { min: 1, fallback: 1 })
  const dense = config.has('mlp_only_layers') ? config.numbers('mlp_only_layers') : []
  if (count * layers > mostExperts)
    throw config.wrong('num_experts', count, `at most ${mostExperts} in ${layers} layers`)
  if (count > 0 && active > count) throw config.wrong('num_experts_per_tok', active, `at most ${count}`)
  const sparse = Array.from({ length: layers }, (_, i) => i).filter((i) => (i + 1) % step === 0 && !dense.includes(i))
  if (count === 0 || sparse.length === 0) return undefined
  return {
    count,
    active,
    inner: config.integer('moe_intermediate_size', { min: 1, fallback: 768 }),
    normalized: config.flag('norm_topk_prob', false),
    layers: sparse,
  }
}
