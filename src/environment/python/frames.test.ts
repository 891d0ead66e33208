import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { encodeFrame, FrameReader, MAX_FRAME } from './frames.js'

const item = fc.jsonValue({ stringUnit: 'binary' })

describe('frames', () => {
  it('come back whatever way the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.array(item)), fc.infiniteStream(fc.integer({ min: 1, max: 50 })), (lists, cuts) => {
        const stream = Buffer.concat(lists.map((list) => encodeFrame(list.map((one) => JSON.stringify(one)))))
        const reader = new FrameReader()
        const seen: unknown[][] = []
        for (let at = 0; at < stream.length; ) {
          const size = cuts.next().value
          seen.push(...reader.push(stream.subarray(at, at + size)))
          at += size
        }
        expect(JSON.stringify(seen)).toBe(JSON.stringify(lists))
      }),
    )
  })

  it('of junk are lists or an error of ours, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const reader = new FrameReader()
        try {
          for (const chunk of chunks) for (const list of reader.push(chunk)) expect(Array.isArray(list)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(TrinityError)
          expect(error).toMatchObject({ code: 'environment/frame' })
        }
      }),
    )
  })

  it.each([
    ['longer than allowed', Buffer.from([1, 0, 0, 4]), /67108865 bytes/],
    ['no list', Buffer.from([2, 0, 0, 0, 0x7b, 0x7d]), /no list/],
    ['not JSON', Buffer.from([2, 0, 0, 0, 0x5b, 0xff]), /not JSON/],
    ['shorter than a list', Buffer.from([0, 0, 0, 0]), /0 bytes/],
  ])('%s: refused', (_, bytes, message) => {
    expect(() => new FrameReader().push(bytes)).toThrow(message)
  })

  it('that are too long are not made', () => {
    expect(() => encodeFrame([`"${'x'.repeat(MAX_FRAME)}"`])).toThrow(/the most is/)
  })
})
