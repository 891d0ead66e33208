import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { dequantize } from './dequantize.js'
import { quantize, type WritableType } from './quantize.js'
import { type GgufType, ggufTypes } from './types.js'

interface Golden {
  /** Made by the gguf package: fixture/make.py. */
  decode: Record<GgufType, { blocks: string; values: string }>
  row: string
  encode: Record<WritableType, string>
}
const golden: Golden = JSON.parse(await readFile(new URL('golden-blocks.json', import.meta.url), 'utf8'))

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const floats = (hex: string) => new Float32Array(bytes(hex).buffer)
const hexOf = (values: ArrayBufferView) =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex')

describe('blocks', () => {
  it.each(Object.keys(golden.decode) as GgufType[])('%s decodes to the bits of the reference', (name) => {
    const { blocks, values } = golden.decode[name]
    const out = new Float32Array(values.length / 8)
    dequantize(ggufTypes.get(name)!, bytes(blocks), out)
    expect(hexOf(out)).toBe(values)
  })

  it.each(Object.keys(golden.encode) as WritableType[])('%s encodes to the bytes of the reference', (name) => {
    expect(hexOf(quantize(name, floats(golden.row)))).toBe(golden.encode[name])
  })

  it.each([
    ['Q4_K', 0.06],
    ['Q6_K', 0.016],
    ['Q8_0', 0.006],
    ['Q4_0', 0.1],
  ] as const)('%s keeps values up to %f of their size', (name, most) => {
    const values = Float32Array.from({ length: 1024 }, (_, i) => Math.sin(i * 12.9898) * Math.cos(i * 0.37) * 0.05)
    const back = new Float32Array(values.length)
    dequantize(ggufTypes.get(name)!, quantize(name, values), back)
    const square = (list: Float32Array) => list.reduce((sum, x) => sum + x * x, 0)
    const error = Math.sqrt(square(values.map((x, i) => x - back[i])) / square(values))
    expect(error).toBeLessThan(most)
    expect(error).toBeGreaterThan(most / 4)
  })

  it('zeros stay zeros', () => {
    for (const name of ['Q8_0', 'Q4_0', 'Q5_0', 'Q4_K', 'Q6_K'] as const) {
      const back = new Float32Array(256).fill(1)
      dequantize(ggufTypes.get(name)!, quantize(name, new Float32Array(256)), back)
      expect(back.every((x) => x === 0)).toBe(true)
    }
  })

  it('refuses blocks that are not whole', () => {
    expect(() => dequantize(ggufTypes.get('Q8_0')!, new Uint8Array(33), new Float32Array(32))).toThrow('33 bytes')
  })
})
