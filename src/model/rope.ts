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

/** Reads `rope_theta` + `rope_scaling` and the newer `rope_parameters` that holds both; where both stand, the older counts. */
export function parseRope(config: ConfigReader, maxPositions: number): Rope {
  const older = config.object('rope_scaling')
  const scaling = older && older.size > 0 ? older : config.object('rope_parameters')
  const theta = scaling?.has('rope_theta') ? scaling.positive('rope_theta') : config.positive('rope_theta', 10000)
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
    default:
      throw config.unsupported(`rope type '${type}'`, 'supported: default, linear, llama3')
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
  }
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
