import type { BlockDecoder } from './dequantize.js'
import { halfAt } from './half.js'

/** The types with blocks of 256 elements in which parts of 16 or 32 have scales of their own. */
export const kBlocks: Readonly<Record<'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K', BlockDecoder>> = {
  Q2_K: (b, at, out, to) => {
    const d = halfAt(b, at + 80)
    const min = halfAt(b, at + 82)
    for (let i = 0; i < 256; i++) {
      const scale = b[at + (i >> 4)]
      const q = (b[at + 16 + (i >> 7) * 32 + (i & 31)] >> (((i >> 5) & 3) * 2)) & 3
      out[to + i] = d * (scale & 15) * q - min * (scale >> 4)
    }
  },
  Q3_K: (b, at, out, to) => {
    const d = halfAt(b, at + 108)
    for (let i = 0; i < 256; i++) {
      const j = i >> 4
      const low = (b[at + 96 + (j & 7)] >> (j < 8 ? 0 : 4)) & 15
      const scale = (low | (((b[at + 104 + (j & 3)] >> ((j >> 2) * 2)) & 3) << 4)) - 32
      const q = (b[at + 32 + (i >> 7) * 32 + (i & 31)] >> (((i >> 5) & 3) * 2)) & 3
      const isSmall = ((b[at + (i & 31)] >> (i >> 5)) & 1) === 0
      out[to + i] = d * scale * (isSmall ? q - 4 : q)
    }
  },
  Q4_K: (b, at, out, to) => {
    const d = halfAt(b, at)
    const min = halfAt(b, at + 2)
    for (let part = 0; part < 8; part++) {
      const scale = d * scaleOf(b, at + 4, part)
      const offset = min * minOf(b, at + 4, part)
      const from = at + 16 + (part >> 1) * 32
      const shift = (part & 1) * 4
      for (let i = 0; i < 32; i++) out[to + part * 32 + i] = scale * ((b[from + i] >> shift) & 15) - offset
    }
  },
  Q5_K: (b, at, out, to) => {
    const d = halfAt(b, at)
    const min = halfAt(b, at + 2)
    for (let part = 0; part < 8; part++) {
      const scale = d * scaleOf(b, at + 4, part)
      const offset = min * minOf(b, at + 4, part)
      const from = at + 48 + (part >> 1) * 32
      const shift = (part & 1) * 4
      for (let i = 0; i < 32; i++) {
        const q = ((b[from + i] >> shift) & 15) | (((b[at + 16 + i] >> part) & 1) << 4)
        out[to + part * 32 + i] = scale * q - offset
      }
    }
  },
  Q6_K: (b, at, out, to) => {
    const d = halfAt(b, at + 208)
    for (let i = 0; i < 256; i++) {
      const side = i >> 7
      const part = (i >> 5) & 3
      const low = (b[at + side * 64 + (part & 1) * 32 + (i & 31)] >> ((part >> 1) * 4)) & 15
      const high = (b[at + 128 + side * 32 + (i & 31)] >> (part * 2)) & 3
      const scale = (b[at + 192 + (i >> 4)] << 24) >> 24
      out[to + i] = d * scale * ((low | (high << 4)) - 32)
    }
  },
}

/** Eight scales and eight minima of six bits each in twelve bytes. */
function scaleOf(b: Uint8Array, at: number, part: number): number {
  return part < 4 ? b[at + part] & 63 : (b[at + 4 + part] & 15) | ((b[at + part - 4] >> 6) << 4)
}

function minOf(b: Uint8Array, at: number, part: number): number {
  return part < 4 ? b[at + 4 + part] & 63 : (b[at + 4 + part] >> 4) | ((b[at + part] >> 6) << 4)
}
