import type { JsonObject } from '../base/file/json-file.js'
import type { Family } from './architecture.js'
import type { ConfigReader } from './config-reader.js'

/** Layers that do not rotate: by a list (1: rotates), or every so-many-th. */
export function layersWithoutPositions(config: ConfigReader, layers: number): number[] {
  const numbers = Array.from({ length: layers }, (_, i) => i)
  if (config.has('no_rope_layers')) {
    const list = config.numbers('no_rope_layers')
    if (list.length < layers) throw config.wrong('no_rope_layers', list.length, `a list of ${layers} numbers`)
    return numbers.filter((layer) => list[layer] === 0)
  }
  const interval = config.integer('no_rope_layer_interval', { min: 1, fallback: 4 })
  return numbers.filter((layer) => (layer + 1) % interval === 0)
}

/** Families of which every so-many-th layer sees all unless their file says otherwise. */
const farEvery: Partial<Record<Family, (config: ConfigReader) => number>> = {
  gemma2: () => 2,
  gemma3_text: (config) => config.integer('sliding_window_pattern', { min: 1, fallback: 6 }),
}
const withoutWindows: readonly Family[] = ['llama', 'olmo2']
/** Families in which Transformers goes by the window alone. */
const byWindow: readonly Family[] = ['mistral', 'phi3']

/** `full_attention` or `sliding_attention` of each layer, where that is said or the family has a pattern; else none. */
export function readLayerTypes(
  config: ConfigReader,
  { family, layers }: { family: Family; layers: number },
): readonly string[] {
  const given = config.texts('layer_types')
  const windowed = !withoutWindows.includes(family)
  const other = given.find((type) => type !== 'full_attention' && !(windowed && type === 'sliding_attention'))
  if (other !== undefined) throw config.unsupported(`a layer of type '${other}' in this family`, 'use full_attention')
  const every = farEvery[family]?.(config)
  if (given.length > 0 || every === undefined) return given
  return Array.from({ length: layers }, (_, i) => ((i + 1) % every === 0 ? 'full_attention' : 'sliding_attention'))
}

/** Of each layer how many tokens it sees (0: all), as Transformers reads it. Undefined: all layers see all. */
export function readWindows(
  config: ConfigReader,
  json: JsonObject,
  {
    family,
    layers,
    types,
    unturned,
  }: { family: Family; layers: number; types: readonly string[]; unturned?: readonly number[] },
): number[] | undefined {
  if (withoutWindows.includes(family)) {
    if (config.flag('use_sliding_window', false)) {
      throw config.unsupported('sliding-window attention in this family', 'set use_sliding_window to false')
    }
    return undefined
  }
  const quiet = family === 'smollm3' || family === 'phi3'
  const none = json.sliding_window === null || (quiet && !config.has('sliding_window'))
  // Where nothing is said the window is 4096 tokens; null is none.
  const window = none ? 0 : config.integer('sliding_window', { min: 1, fallback: 4096 })
  if (byWindow.includes(family)) {
    if (types.length > 0) throw config.unsupported('layer_types in this family', 'leave it out')
    return Array.from({ length: layers }, () => window)
  }
  if (family === 'qwen3_moe' && config.flag('use_sliding_window', false)) {
    // Transformers masks all layers alike, and knows no types of them.
    if (types.length > 0) throw config.unsupported('layer_types in this family', 'leave it out')
    return Array.from({ length: layers }, () => window)
  }
  const used = farEvery[family] || config.flag('use_sliding_window', false) ? window : 0
  if (types.length > 0 && types.length !== layers) {
    throw config.wrong('layer_types', types.length, `a list of ${layers} types`)
  }
  const from = config.integer('max_window_layers', { min: 0, fallback: 28 })
  return Array.from({ length: layers }, (_, layer) => {
    const slides =
      types.length > 0
        ? types[layer] === 'sliding_attention'
        : family === 'smollm3'
          ? unturned!.includes(layer)
          : layer >= from
    if (slides && types.length > 0 && used === 0) {
      throw config.unsupported('a sliding layer without a window', 'set use_sliding_window and sliding_window')
    }
    return slides ? used : 0
  })
}
