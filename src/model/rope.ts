import type { ConfigReader } from './config-reader.js'

/** Rotary position embedding: how fast each pair of dimensions turns with the position. */
export interface Rope {
  readonly theta: number
  readonly scaling: RopeScaling
}

export type RopeScaling =
  | { readonly type: 'default' }
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3'
      readonly factor: number
      readonly lowFreqFactor: number
      readonly highFreqFactor: number
      readonly originalMaxPositions: number
    }
  | {
      readonly type: 'yarn'
      readonly factor: number
      readonly attentionFactor: number
      readonly betaFast: number
      readonly betaSlow: number
      readonly truncate: boolean
      readonly originalMaxPositions: number
    }

/** Reads `rope_theta` + `rope_scaling` and the newer `rope_parameters` that holds both; where both stand, the older counts. */
export function parseRope(config: ConfigReader, maxPositions: number, usualTheta = 10000): Rope {
  const older = config.object('rope_scaling')
  const scaling = older && older.size > 0 ? older : config.object('rope_parameters')
  const theta = scaling?.has('rope_theta') ? scaling.positive('rope_theta') : config.positive('rope_theta', usualTheta)
  const partial = (scaling?.has('partial_rotary_factor') ? scaling : config).positive('partial_rotary_factor', 1)
  if (partial !== 1) throw config.unsupported(`partial_rotary_factor ${partial}`, 'only whole heads can be rotated')
  for (const kind of ['full_attention', 'sliding_attention']) {
    if (scaling?.has(kind))
      throw config.unsupported(`a separate rotation for '${kind}'`, 'all layers must rotate alike')
  }
  return { theta, scaling: scaling ? parseScaling(scaling, config, maxPositions) : { type: 'default' } }
}

function parseScaling(scaling: ConfigReader, config: ConfigReader, maxPositions: number): RopeScaling {
  // Older files say `type`; files that were converted may carry both, the newer one counts.
  const type = scaling.text('rope_type', scaling.text('type', 'default'))
  switch (type) {
    case 'default':
      return { type }
    case 'linear':
      return { type, factor: scaling.positive('factor') }
    case 'llama3': {
      const lowFreqFactor = scaling.positive('low_freq_factor')
      const highFreqFactor = scaling.positive('high_freq_factor')
      if (highFreqFactor <= lowFreqFactor) {
        throw scaling.wrong('high_freq_factor', highFreqFactor, `more than low_freq_factor, which is ${lowFreqFactor}`)
      }
      return {
        type,
        factor: scaling.positive('factor'),
        lowFreqFactor,
        highFreqFactor,
        originalMaxPositions: originalPositions(scaling, config, maxPositions),
      }
    }
    case 'dynamic':
      // It stretches only beyond the length that the model has, and nothing longer is computed here.
      return { type: 'default' }
    case 'yarn':
      return parseYarn(scaling, config, maxPositions)
    default:
      throw config.unsupported(`rope type '${type}'`, 'supported: default, linear, dynamic, llama3, yarn')
  }
}

function parseYarn(scaling: ConfigReader, config: ConfigReader, maxPositions: number): RopeScaling {
  const originalMaxPositions = originalPositions(scaling, config, maxPositions)
  const factor = scaling.has('factor') ? scaling.positive('factor') : maxPositions / originalMaxPositions
  const strength = (by: number) => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1)
  const both = scaling.has('mscale') && scaling.has('mscale_all_dim')
  const usual = both ? strength(scaling.positive('mscale')) / strength(scaling.positive('mscale_all_dim')) : strength(1)
  return {
    type: 'yarn',
    factor,
    attentionFactor: scaling.positive('attention_factor', usual),
    betaFast: scaling.positive('beta_fast', 32),
    betaSlow: scaling.positive('beta_slow', 1),
    truncate: scaling.flag('truncate', true),
    originalMaxPositions,
  }
}

/** Beside the other keys of the model it counts more than among those of the rotation, as in Transformers. */
function originalPositions(scaling: ConfigReader, config: ConfigReader, maxPositions: number): number {
  const key = 'original_max_position_embeddings'
  return config.has(key) ? config.positive(key) : scaling.positive(key, maxPositions)
}

/** The `rope_scaling` entry for config.json; null for the default. */
export function ropeScalingJson(scaling: RopeScaling): Record<string, unknown> | null {
  switch (scaling.type) {
    case 'default':
      return null
    case 'linear':
      return { rope_type: 'linear', factor: scaling.factor }
    case 'llama3':
      return {
        rope_type: 'llama3',
        factor: scaling.factor,
        low_freq_factor: scaling.lowFreqFactor,
        high_freq_factor: scaling.highFreqFactor,
        original_max_position_embeddings: scaling.originalMaxPositions,
      }
    case 'yarn':
      return {
        rope_type: 'yarn',
        factor: scaling.factor,
        attention_factor: scaling.attentionFactor,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        truncate: scaling.truncate,
        original_max_position_embeddings: scaling.originalMaxPositions,
      }
  }
}

/** What cosines and sines are multiplied by. */
export function ropeStrength({ scaling }: Rope): number {
  return scaling.type === 'yarn' ? scaling.attentionFactor : 1
}

/**
 * Angle per position of each of the headDim / 2 pairs. Rounded to f32 after each step as Transformers does: at position
 * 30,000 one ulp here is a visible angle.
 */
export function inverseFrequencies(rope: Rope, headDim: number): Float32Array {
  const { fround } = Math
  const { scaling } = rope
  const out = new Float32Array(headDim / 2)
  for (let i = 0; i < out.length; i++) {
    const frequency = fround(1 / fround(rope.theta ** fround((2 * i) / headDim)))
    if (scaling.type === 'linear') out[i] = frequency / scaling.factor
    else if (scaling.type === 'llama3') out[i] = llama3(frequency, scaling)
    else if (scaling.type === 'yarn') out[i] = yarn(rope, scaling, headDim, i)
    else out[i] = frequency
  }
  return out
}

/** Long waves are stretched by `factor`, short ones kept, those between blended. */
function llama3(frequency: number, s: Extract<RopeScaling, { type: 'llama3' }>): number {
  const { fround } = Math
  const wavelength = fround((2 * Math.PI) / frequency)
  if (wavelength < s.originalMaxPositions / s.highFreqFactor) return frequency
  if (wavelength > s.originalMaxPositions / s.lowFreqFactor) return fround(frequency / s.factor)
  const waves = fround(s.originalMaxPositions / wavelength)
  const smooth = fround(fround(waves - s.lowFreqFactor) / (s.highFreqFactor - s.lowFreqFactor))
  return fround(fround(fround(fround(1 - smooth) * frequency) / s.factor) + fround(smooth * frequency))
}

/** Pairs that turn often are kept, those that turn less than once stretched by `factor`, those between blended. */
function yarn({ theta }: Rope, s: Extract<RopeScaling, { type: 'yarn' }>, headDim: number, pair: number): number {
  const { fround } = Math
  const place = (turns: number) =>
    (headDim * Math.log(s.originalMaxPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta))
  const [first, last] = [place(s.betaFast), place(s.betaSlow)]
  const low = Math.max(s.truncate ? Math.floor(first) : first, 0)
  const high = Math.min(s.truncate ? Math.ceil(last) : last, headDim - 1)
  const width = high === low ? 0.001 : high - low
  const stretched = Math.min(1, Math.max(0, fround(fround(pair - low) / width)))
  const kept = fround(1 - stretched)
  const wave = fround(theta ** fround((2 * pair) / headDim))
  return fround(fround(fround(1 / fround(s.factor * wave)) * fround(1 - kept)) + fround(fround(1 / wave) * kept))
}
