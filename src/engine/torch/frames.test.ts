import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, type Frame, type FrameData, FrameReader, numberOf } from './frames.js'

const bytesOf = (...args: Parameters<typeof encodeFrame>) => Buffer.concat(encodeFrame(...args))

function decode(bytes: Uint8Array, cuts: readonly number[] = []): Frame[] {
  const reader = new FrameReader()
  const frames: Frame[] = []
  let at = 0
  for (const cut of [...cuts.map((c) => Math.min(c, bytes.length)).sort((a, b) => a - b), bytes.length]) {
    frames.push(...reader.push(bytes.subarray(at, cut)))
    at = cut
  }
  expect(reader.partial).toBe(false)
  return frames
}

/** A frame with any header and lengths. */
function raw(header: string, payload = Buffer.alloc(0), claims: { header?: number; payload?: bigint } = {}): Buffer {
  const prefix = Buffer.alloc(16)
  prefix.write('TRT1')
  prefix.writeUInt32LE(claims.header ?? Buffer.byteLength(header), 4)
  prefix.writeBigUInt64LE(claims.payload ?? BigInt(payload.length), 8)
  return Buffer.concat([prefix, Buffer.from(header), payload])
}

const tensor: fc.Arbitrary<FrameData> = fc.oneof(
  fc.int32Array(),
  fc.float32Array(),
  fc.uint8Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
)

describe('frames', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    const one = fc.tuple(fc.dictionary(fc.string(), fc.string()), fc.dictionary(fc.string(), tensor, { maxKeys: 4 }))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 4 }), fc.array(fc.nat(400)), (given, cuts) => {
        const got = decode(Buffer.concat(given.map(([header, tensors]) => bytesOf({ header }, tensors))), cuts)
        expect(got).toHaveLength(given.length)
        for (const [i, [header, tensors]] of given.entries()) {
          expect(got[i].header.header).toEqual(header)
          expect([...got[i].tensors.keys()]).toEqual(Object.keys(tensors))
          for (const [name, data] of Object.entries(tensors)) {
            expect(got[i].tensors.get(name)).toEqual({ data, shape: [data.length] })
          }
        }
      }),
    )
  })

  it('carry shapes, and bits rather than numbers', () => {
    const data = Float32Array.of(Number.NaN, -0, Infinity, 1e-45, 2, 3)
    const [{ tensors }] = decode(bytesOf({}, { x: { data, shape: [2, 3] } }))
    expect(tensors.get('x')).toEqual({ data, shape: [2, 3] })
  })

  it('carry numbers that JSON has not, as words', () => {
    const [{ header }] = decode(bytesOf({ a: Number.NaN, b: { c: [-Infinity, 1] } }))
    expect(header).toMatchObject({ a: 'NaN', b: { c: ['-Infinity', 1] } })
    expect([header.a, 1.5, '-Infinity', null].map(numberOf)).toEqual([Number.NaN, 1.5, -Infinity, Number.NaN])
  })

  it('are not copied when they are sent', () => {
    const data = new Float32Array(4)
    expect(encodeFrame({}, { data }).some((piece) => piece.buffer === data.buffer)).toBe(true)
  })

  it('cut short are noticed', () => {
    const bytes = bytesOf({ id: 1 }, { x: new Int32Array(3) })
    for (let end = 1; end < bytes.length; end++) {
      const reader = new FrameReader()
      expect([...reader.push(bytes.subarray(0, end))]).toEqual([])
      expect(reader.partial).toBe(true)
    }
  })

  const spec = (more: object) => JSON.stringify({ tensors: [{ name: 'x', dtype: 'f32', shape: [2], ...more }] })
  it.each([
    ['another magic', Buffer.from('HTTP/1.1 400 Bad Request')],
    ['a header over the limit', raw('{}', undefined, { header: 2 ** 32 - 1 })],
    ['a payload over the limit', raw('{}', undefined, { payload: 2n ** 63n })],
    ['a payload that nobody describes', raw('{}', Buffer.alloc(8))],
    ['no JSON', raw('{')],
    ['no UTF-8', raw('', Buffer.from([0xff, 0xfe]), { header: 2, payload: 0n })],
    ['no object', raw('[]')],
    ['tensors that are no list', raw('{"tensors": {}}')],
    ['a tensor without name', raw(spec({ name: 1 }), Buffer.alloc(8))],
    [
      'a name twice',
      raw(`{"tensors":${JSON.stringify(Array(2).fill({ name: 'x', dtype: 'u8', shape: [8] }))}}`, Buffer.alloc(16)),
    ],
    ['an unknown type', raw(spec({ dtype: 'constructor' }), Buffer.alloc(8))],
    ['a shape that is none', raw(spec({ shape: [-2] }), Buffer.alloc(8))],
    ['a shape that overflows', raw(spec({ shape: [1e200, 1e200] }), Buffer.alloc(8))],
    ['a tensor larger than the payload', raw(spec({ shape: [400] }), Buffer.alloc(8))],
  ])('refuses %s', (_, bytes) => {
    expect(() => [...new FrameReader().push(bytes)]).toThrowError(expect.objectContaining({ code: 'engine/frame' }))
  })

  it('refuses noise or waits for more, and never hangs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (noise) => {
        try {
          expect([...new FrameReader().push(noise)]).toEqual([])
        } catch (error) {
          expect(error).toMatchObject({ code: 'engine/frame' })
        }
      }),
    )
  })
})
