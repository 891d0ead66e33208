import type { Family } from './architecture.js'
import type { ConfigReader } from './config-reader.js'

/** Rotary position embedding: how fast each pair of dimensions turns with the position. */
export interface Rope {
  readonly theta: number
  readonly scaling: RopeScaling
  /** Share of a head that is rotated, from its start. Absent: all of it. */
  readonly partial?: number
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
  | {
      /** Each pair has a factor, and another one in models that are used beyond their original length. */
      readonly type: 'longrope'
      readonly short: readonly number[]
      readonly long: readonly number[]
      readonly attentionFactor: number
      readonly originalMaxPositions: number
    }

/** What the rotation of a model depends on besides its own keys. */
export interface RopePlace {
  readonly family: Family
  readonly maxPositions: number
  readonly headDim: number
}

/** Reads `rope_theta` + `rope_scaling` and the newer `rope_parameters` that holds both; where both stand, the older counts. */
export function parseRope(config: ConfigReader, place: RopePlace, usualTheta = 10000): Rope {
  const older = config.object('rope_scaling')
  const newer = config.object('rope_parameters')
  const layered = place.family === 'gemma3_text'
  const scaling = older && older.size > 0 ? older : layered ? ofLayers(newer, 'full_attention') : newer
  const theta = scaling?.has('rope_theta') ? scaling.positive('rope_theta') : config.positive('rope_theta', usualTheta)
  const partial = (scaling?.has('partial_rotary_factor') ? scaling : config).positive('partial_rotary_factor', 1)
  if (partial !== 1 && (place.family !== 'phi3' || partial > 1)) {
    throw config.unsupported(`partial_rotary_factor ${partial}`, 'in this family only whole heads can be rotated')
  }
  if (rotatedDims({ partial }, place.headDim) % 2 !== 0) {
    throw config.wrong('partial_rotary_factor', partial, `an even part of ${place.headDim} dimensions`)
  }
  for (const kind of ['full_attention', 'sliding_attention']) {
    if (scaling?.has(kind))
      throw config.unsupported(`a separate rotation for '${kind}'`, 'all layers must rotate alike')
  }
  const parsed: Rope = {
    theta,
    scaling: scaling ? parseScaling(scaling, config, { ...place, partial }) : { type: 'default' },
  }
  return partial === 1 ? parsed : { ...parsed, partial }
}

/** The rotation of layers that see a window, in families where it is another one. */
export function parseNearRope(config: ConfigReader): Rope {
  const scaling = ofLayers(config.object('rope_parameters'), 'sliding_attention')
  const type = scaling?.text('rope_type', 'default') ?? 'default'
  if (type !== 'default') throw config.unsupported(`rope type '${type}' of sliding_attention`, 'supported: default')
  const theta = scaling?.has('rope_theta')
    ? scaling.positive('rope_theta')
    : config.positive('rope_local_base_freq', 10000)
  return { theta, scaling: { type: 'default' } }
}

function ofLayers(parameters: ConfigReader | undefined, kind: string): ConfigReader | undefined {
  if (!parameters || parameters.size === 0) return undefined
  if (parameters.has('rope_type') || parameters.has('rope_theta'))
    throw parameters.unsupported('one rotation for all layers', 'give full_attention and sliding_attention')
  return parameters.object(kind)
}

function parseScaling(
  scaling: ConfigReader,
  config: ConfigReader,
  { family, maxPositions, headDim, partial }: RopePlace & { partial: number },
): RopeScaling {
  // Older files say `type`; files that were converted may carry both, the newer one counts.
  const said = scaling.text('rope_type', scaling.text('type', 'default'))
  if (family === 'phi3') {
    if (said === 'default') return { type: 'default' }
    // The first files of the family have other names for it.
    if (['longrope', 'su', 'yarn'].includes(said)) {
      return parseLongrope(scaling, config, { maxPositions, pairs: rotatedDims({ partial }, headDim) / 2 })
    }
    throw config.unsupported(`rope type '${said}' in this family`, 'supported: default, longrope')
  }
  const type = said
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

function parseLongrope(
  scaling: ConfigReader,
  config: ConfigReader,
  { maxPositions, pairs }: { maxPositions: number; pairs: number },
): RopeScaling {
  const originalMaxPositions = config.positive('original_max_position_embeddings', 4096)
  const factors = (key: string) => {
    const list = scaling.numbers(key)
    if (list.length === pairs && list.every((factor) => factor > 0)) return list
    throw scaling.wrong(key, `${list.length} numbers`, `${pairs} numbers above 0`)
  }
  const factor = scaling.has('factor') ? scaling.positive('factor') : maxPositions / originalMaxPositions
  const usual = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalMaxPositions))
  return {
    type: 'longrope',
    short: factors('short_factor'),
    long: factors('long_factor'),
    attentionFactor: scaling.positive('attention_factor', usual),
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
    case 'longrope':
      return {
        rope_type: 'longrope',
        short_factor: scaling.short,
        long_factor: scaling.long,
        attention_factor: scaling.attentionFactor,
      }
  }
}

/** What cosines and sines are multiplied by. */
export function ropeStrength({ scaling }: Rope): number {
  return scaling.type === 'yarn' || scaling.type === 'longrope' ? scaling.attentionFactor : 1
}

/** Dimensions of a head that are rotated. */
export function rotatedDims({ partial = 1 }: Pick<Rope, 'partial'>, headDim: number): number {
  return Math.trunc(headDim * partial)
}

/**
 * Angle per position of each pair that is rotated. `longest`: of the sequences that are computed; it chooses between the factors of a
 * longrope. Rounded to f32 after each step as Transformers does: at position
 * 30,000 one ulp here is a visible angle.
 */
export function inverseFrequencies(rope: Rope, headDim: number, longest = 0): Float32Array {
  const { fround } = Math
  const { scaling } = rope
  const dims = rotatedDims(rope, headDim)
  const out = new Float32Array(dims / 2)
  for (let i = 0; i < out.length; i++) {
    const wave = fround(rope.theta ** fround((2 * i) / dims))
    const frequency = fround(1 / wave)
    if (scaling.type === 'linear') out[i] = frequency / scaling.factor
    else if (scaling.type === 'llama3') out[i] = llama3(frequency, scaling)
    else if (scaling.type === 'yarn') out[i] = yarn(rope, scaling, dims, i)
    else if (scaling.type === 'longrope') out[i] = 1 / fround(fround(longFactors(scaling, longest)[i]) * wave)
    else out[i] = frequency
  }
  return out
}

function longFactors(s: Extract<RopeScaling, { type: 'longrope' }>, longest: number): readonly number[] {
  return longest > s.originalMaxPositions ? s.long : s.short
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
