import type { ModelConfig } from '../config.js'
import { rotatesNeighbors } from './family.js'

/**
 * llama.cpp rotates neighbors (0, 1), (2, 3), …, Transformers the halves of a head: files of some families have
 * the rows of q and k in the order that makes both the same. Undefined where a tensor stays as it is.
 */
export function rowsOf(
  { family, heads, kvHeads }: ModelConfig,
  { name, shape }: { name: string; shape: readonly number[] },
  direction: 'to-gguf' | 'from-gguf',
): Int32Array | undefined {
  const [, which] = /\.self_attn\.([qk])_proj\./.exec(name) ?? []
  if (!rotatesNeighbors.includes(family) || which === undefined) return undefined
  return rowOrder(shape[0], which === 'q' ? heads : kvHeads, direction)
}

function rowOrder(rows: number, heads: number, direction: 'to-gguf' | 'from-gguf'): Int32Array {
  const size = rows / heads
  const order = new Int32Array(rows)
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < size / 2; i++) {
      for (let j = 0; j < 2; j++) {
        const [pairs, halves] = [head * size + i * 2 + j, head * size + j * (size / 2) + i]
        if (direction === 'to-gguf') order[pairs] = halves
        else order[halves] = pairs
      }
    }
  }
  return order
}

/** The bytes of a matrix with row `order[i]` in place i. */
export function reordered(bytes: Uint8Array, order: Int32Array): Uint8Array {
  const width = bytes.byteLength / order.length
  const out = new Uint8Array(bytes.byteLength)
  for (let i = 0; i < order.length; i++) out.set(bytes.subarray(order[i] * width, (order[i] + 1) * width), i * width)
  return out
}
