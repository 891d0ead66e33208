import { TrinityError } from '../../base/error.js'
import { toFloat32 } from '../dtype.js'
import { halfAt } from './half.js'
import { kBlocks } from './k-blocks.js'
import type { GgufType, GgufTypeInfo } from './types.js'

/** Decodes one block at `from` into `out` at `to`. */
export type BlockDecoder = (bytes: Uint8Array, from: number, out: Float32Array, to: number) => void

/**
 * Each formula is ggml's. All products and sums of a block fit into a double exactly, so that the one rounding is that of
 * storing the result, and the numbers are those of ggml bit for bit.
 */
const decoders: Readonly<Partial<Record<GgufType, BlockDecoder>>> = {
  Q4_0: (b, at, out, to) => {
    const d = halfAt(b, at)
    for (let i = 0; i < 16; i++) {
      const q = b[at + 2 + i]
      out[to + i] = d * ((q & 15) - 8)
      out[to + 16 + i] = d * ((q >> 4) - 8)
    }
  },
  Q4_1: (b, at, out, to) => {
    const d = halfAt(b, at)
    const m = halfAt(b, at + 2)
    for (let i = 0; i < 16; i++) {
      const q = b[at + 4 + i]
      out[to + i] = d * (q & 15) + m
      out[to + 16 + i] = d * (q >> 4) + m
    }
  },
  Q5_0: (b, at, out, to) => {
    const d = halfAt(b, at)
    const high = word(b, at + 2)
    for (let i = 0; i < 16; i++) {
      const q = b[at + 6 + i]
      out[to + i] = d * (((q & 15) | (((high >>> i) & 1) << 4)) - 16)
      out[to + 16 + i] = d * (((q >> 4) | (((high >>> (i + 16)) & 1) << 4)) - 16)
    }
  },
  Q5_1: (b, at, out, to) => {
    const d = halfAt(b, at)
    const m = halfAt(b, at + 2)
    const high = word(b, at + 4)
    for (let i = 0; i < 16; i++) {
      const q = b[at + 8 + i]
      out[to + i] = d * ((q & 15) | (((high >>> i) & 1) << 4)) + m
      out[to + 16 + i] = d * ((q >> 4) | (((high >>> (i + 16)) & 1) << 4)) + m
    }
  },
  Q8_0: (b, at, out, to) => {
    const d = halfAt(b, at)
    for (let i = 0; i < 32; i++) out[to + i] = d * ((b[at + 2 + i] << 24) >> 24)
  },
  ...kBlocks,
}

const word = (b: Uint8Array, at: number): number => b[at] | (b[at + 1] << 8) | (b[at + 2] << 16) | (b[at + 3] << 24)

/** Writes whole blocks of `type` as f32 into `target`. */
export function dequantize(type: GgufTypeInfo, source: Uint8Array, target: Float32Array): void {
  if (type.name === 'F32' || type.name === 'F16' || type.name === 'BF16') {
    toFloat32(type.name, source, target)
    return
  }
  const decode = decoders[type.name] as BlockDecoder
  const count = target.length / type.block
  if (source.byteLength !== count * type.bytes) {
    throw new TrinityError('gguf/size', `${count} blocks of ${type.name} are not ${source.byteLength} bytes`)
  }
  for (let i = 0; i < count; i++) decode(source, i * type.bytes, target, i * type.block)
}
