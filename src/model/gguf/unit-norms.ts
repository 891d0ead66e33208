import type { ModelConfig } from '../config.js'

/** Where norms multiply by 1 + weight, llama.cpp stores the sum. */
export function isUnitNorm({ unitNorms }: ModelConfig, name: string): boolean {
  return unitNorms && name.endsWith('norm.weight')
}

/** The f32 numbers of such a norm, and `by` more; bytes of anything else as they are. */
export function shifted(config: ModelConfig, name: string, bytes: Uint8Array, by: 1 | -1): Uint8Array {
  if (!isUnitNorm(config, name)) return bytes
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  for (let i = 0; i < values.length; i++) values[i] += by
  return bytes
}
