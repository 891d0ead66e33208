import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TrinityError } from '../../../base/error.js'
import { bfloatsOf, floatBytes, floatsOf, int32Bytes, int32sOf, int64Bytes, int64sOf } from './numbers.js'
import { ProtoWriter, protoFields, unpacked } from './proto.js'

it('what is written is read again', () => {
  const field = fc.integer({ min: 1, max: 2000 })
  const value = fc.record({
    int: fc.nat(2 ** 31 - 1),
    double: fc.double({ noNaN: true }),
    bytes: fc.uint8Array({ maxLength: 300 }),
    list: fc.array(fc.nat(2 ** 31 - 1), { maxLength: 5 }),
  })
  fc.assert(
    fc.property(field, value, (at, { int, double, bytes, list }) => {
      const inner = new ProtoWriter().bytes(at, bytes)
      const message = new ProtoWriter()
        .int(at, int)
        .double(at + 1, double)
        .message(at + 2, inner)
        .packed(at + 3, list)
      const got = [...protoFields(message.finish())]
      const find = (wanted: number) => got.find(({ field: one }) => one === wanted)
      expect(find(at)?.number ?? 0).toBe(int)
      expect(find(at + 1)?.number ?? 0).toBe(double)
      expect([...protoFields(find(at + 2)!.bytes)]).toMatchObject([{ field: at }])
      expect(Buffer.from([...protoFields(find(at + 2)!.bytes)][0].bytes)).toEqual(Buffer.from(bytes))
      expect(unpacked(find(at + 3)?.bytes ?? new Uint8Array(0))).toEqual(list)
    }),
  )
})

it('bytes that are no message are an error that says so', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        for (const _ of protoFields(bytes));
      } catch (error) {
        expect((error as TrinityError).code).toBe('tinker/answer')
        expect(error).toBeInstanceOf(TrinityError)
      }
    }),
  )
  expect(() => [...protoFields(Uint8Array.of(10, 200, 1, 1))]).toThrowError(/ends behind byte/)
})

it('arrays cross as they are', () => {
  const ints = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]
  expect([...int32sOf(int32Bytes(ints))]).toEqual(ints)
  expect(int64sOf(int64Bytes(ints))).toEqual(ints)
  const floats = [0, -1.5, 3e38, Number.NaN]
  expect([...floatsOf(floatBytes(floats))]).toEqual([...Float32Array.from(floats)])
  expect([...bfloatsOf(Uint8Array.of(0xc0, 0xbf))]).toEqual([-1.5])
  // a view into a larger buffer does not begin where numbers may
  expect([...floatsOf(Buffer.concat([Uint8Array.of(9), floatBytes([7])]).subarray(1))]).toEqual([7])
  expect(() => floatsOf(new Uint8Array(3))).toThrowError(/3 bytes/)
})
