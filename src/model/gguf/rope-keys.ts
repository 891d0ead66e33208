import type { JsonObject } from '../../base/file/json-file.js'
import type { ConfigReader } from '../config-reader.js'
import { ropeScalingJson } from '../rope.js'
import type { GgufSizes } from './config.js'
import type { GgufFile } from './file.js'
import { yarnStrength } from './metadata.js'
import { LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS } from './names.js'
import { scalingOf } from './rope-factors.js'
import { short } from './short.js'

const ORIGINAL = 'rope.scaling.original_context_length'

/** What config.json says of the rotation. */
export async function ropeKeys(file: GgufFile, meta: ConfigReader, sizes: GgufSizes): Promise<JsonObject> {
  const { family, headDim, maxPositions } = sizes
  const theta = short(meta.positive('rope.freq_base', 10000))
  const rotated = meta.integer('rope.dimension_count', { min: 1, fallback: headDim })
  if (rotated !== headDim && family !== 'phi3')
    throw meta.unsupported(`${rotated} of ${headDim} dimensions are rotated`, 'whole heads can be')
  return {
    rope_theta: theta,
    rope_scaling: await scalingJson(file, meta, sizes, theta),
    ...(family === 'phi3' && {
      partial_rotary_factor: rotated / headDim,
      original_max_position_embeddings: meta.integer(ORIGINAL, { min: 1, fallback: maxPositions }),
    }),
  }
}

async function scalingJson(
  file: GgufFile,
  meta: ConfigReader,
  { maxPositions, headDim }: GgufSizes,
  theta: number,
): Promise<JsonObject | null> {
  if (file.tensors.has(ROPE_FACTORS)) {
    const scaling = scalingOf(await file.readFloat32(ROPE_FACTORS), theta, headDim)
    if (!scaling) throw meta.unsupported('factors of a rotation that are not those of Llama 3', 'use another file')
    return ropeScalingJson(scaling)
  }
  if (file.tensors.has(LONG_FACTORS)) {
    const numbers = async (name: string) => Array.from(await file.readFloat32(name), short)
    return {
      rope_type: 'longrope',
      short_factor: await numbers(SHORT_FACTORS),
      long_factor: await numbers(LONG_FACTORS),
      attention_factor: meta.positive('rope.scaling.attn_factor', 1),
    }
  }
  const type = meta.text('rope.scaling.type', 'none')
  if (type === 'none') return null
  const factor = short(meta.positive('rope.scaling.factor'))
  if (type === 'linear') return { rope_type: type, factor }
  if (type === 'yarn') {
    return {
      rope_type: type,
      factor,
      original_max_position_embeddings: meta.integer(ORIGINAL, { min: 1, fallback: maxPositions }),
      attention_factor: meta.positive('rope.scaling.attn_factor', 1) * yarnStrength(factor),
      beta_fast: short(meta.positive('rope.scaling.yarn_beta_fast', 32)),
      beta_slow: short(meta.positive('rope.scaling.yarn_beta_slow', 1)),
    }
  }
  throw meta.unsupported(
    `rope scaling '${type}'`,
    'supported: none, linear, yarn, and the factors of Llama 3 and Phi-3',
  )
}
