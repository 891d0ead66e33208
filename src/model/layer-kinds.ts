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

/** Of each layer how many tokens it sees (0: all), as Transformers reads it. Undefined: all layers see all. */
export function readWindows(
  config: ConfigReader,
  json: JsonObject,
  { family, layers, unturned }: { family: Family; layers: number; unturned?: readonly number[] },
): number[] | undefined {
  const types = config.texts('layer_types')
  const windowed = family !== 'llama' && family !== 'olmo2'
  const other = types.find((type) => type !== 'full_attention' && !(windowed && type === 'sliding_attention'))
  if (other !== undefined) throw config.unsupported(`a layer of type '${other}' in this family`, 'use full_attention')
  if (!windowed) {
    if (config.flag('use_sliding_window', false)) {
      throw config.unsupported('sliding-window attention in this family', 'set use_sliding_window to false')
    }
    return undefined
  }
  const none = json.sliding_window === null || (family === 'smollm3' && !config.has('sliding_window'))
  // Where nothing is said the window is 4096 tokens; null is none.
  const window = none ? 0 : config.integer('sliding_window', { min: 1, fallback: 4096 })
  if (family === 'mistral') {
    // Here Transformers goes by the window alone.
    if (types.length > 0) throw config.unsupported('layer_types in this family', 'leave it out')
    return Array.from({ length: layers }, () => window)
  }
  const used = config.flag('use_sliding_window', false) ? window : 0
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
