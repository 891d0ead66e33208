import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyExperience } from '../../test/any-experience.js'
import { crc32 } from '../base/crc.js'
import { TrinityError } from '../base/error.js'
import { decodeExperience, decodeExperiences, encodeExperience, encodeExperiences } from './binary.js'
import { createExperience } from './create.js'
import { fromJsonLine, toJsonLine } from './jsonl.js'

const sample = createExperience({ eid: { batch: 1, task: 2, suffix: 'abcdef' }, tokens: [1, 2, 3], reward: 0.5 })

/** Decoding must give experiences or a typed error; anything else is a crash. */
function orTyped<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof TrinityError)) throw error
    expect(error.code).toBe('experience/corrupt')
    return undefined
  }
}

describe('binary form', () => {
  it('round-trips batches of anything', () => {
    fc.assert(
      fc.property(fc.array(anyExperience, { maxLength: 4 }), (batch) => {
        expect(decodeExperiences(encodeExperiences(batch))).toStrictEqual(batch)
      }),
      { numRuns: 150 },
    )
  })

  it('aligns every array to 8 bytes, and reads from an unaligned buffer', () => {
    const bytes = encodeExperience(sample)
    expect(bytes.length % 8).toBe(0)
    const shifted = new Uint8Array(bytes.length + 3)
    shifted.set(bytes, 3)
    expect(decodeExperience(shifted.subarray(3))).toStrictEqual(sample)
  })

  it('keeps unknown arrays and fields', () => {
    const extra = { later: { shape: [1, 2], data: Float64Array.of(1, 2) }, word: ['x'] }
    const known = decodeExperience(encodeExperience({ ...sample, extra }))
    expect(known.extra).toStrictEqual(extra)
    expect(fromJsonLine(toJsonLine(known)).extra).toStrictEqual(extra)
  })

  it('names the damaged record', () => {
    const bytes = encodeExperiences([sample, sample, sample])
    bytes[16 + (bytes.length - 16) / 3 + 40] ^= 1
    expect(() => decodeExperiences(bytes, 'buffer.db')).toThrow(/buffer\.db, record 1 is damaged/)
  })

  it('refuses a batch where one experience is expected, and the pickled form', () => {
    expect(() => decodeExperience(encodeExperiences([sample, sample]))).toThrow(/holds 2 experiences/)
    const pickled = encodeExperience(sample)
    pickled[4] = 1
    expect(() => decodeExperience(pickled)).toThrow(expect.objectContaining({ hint: expect.stringMatching(/pickled/) }))
  })

  it('refuses info that is not JSON', () => {
    expect(() => encodeExperience({ ...sample, info: { n: 1n } })).toThrow(/1\/2\/0\/0\/abcdef/)
    expect(() => toJsonLine({ ...sample, info: { n: 1n } })).toThrow(TrinityError)
  })

  it('never crashes on damaged input, and detects all damage inside a record', () => {
    fc.assert(
      fc.property(anyExperience, fc.nat(), fc.integer({ min: 1, max: 255 }), (experience, where, change) => {
        const bytes = encodeExperience(experience)
        const at = where % bytes.length
        bytes[at] ^= change
        const got = orTyped(() => decodeExperiences(bytes))
        if (at >= 32) expect(got).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  it('never crashes on cut or random input', () => {
    fc.assert(
      fc.property(anyExperience, fc.nat(), fc.uint8Array(), (experience, cut, noise) => {
        const bytes = encodeExperience(experience)
        expect(orTyped(() => decodeExperiences(bytes.subarray(0, cut % bytes.length)))).toBeUndefined()
        orTyped(() => decodeExperiences(noise))
      }),
      { numRuns: 200 },
    )
  })

  it('never crashes on a well-signed record with a made-up header', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.tuple(fc.string(), fc.jsonValue())), (json, changes) => {
        orTyped(() => decodeExperiences(signed(json)))
        const base = { type: 'single_turn', eid: { batch: 0, task: 0, run: 0, step: 0 }, prompt_length: 1 }
        orTyped(() => decodeExperiences(signed(JSON.stringify({ ...base, arrays: changes }))))
        const fields = Object.fromEntries(changes)
        orTyped(() => decodeExperiences(signed(JSON.stringify({ ...base, ...fields, arrays: [] }))))
      }),
      { numRuns: 300 },
    )
  })
})

/** A record whose frame and checksum are right, whatever its header says. */
function signed(header: string): Uint8Array {
  const text = Buffer.from(header)
  const bytes = new Uint8Array(32 + Math.ceil(text.length / 8) * 8)
  bytes.set(encodeExperiences([]).subarray(0, 16))
  bytes.set(text, 32)
  const view = new DataView(bytes.buffer)
  view.setUint32(8, 1, true)
  view.setUint32(16, bytes.length - 32, true)
  view.setUint32(24, crc32(bytes.subarray(32)), true)
  view.setUint32(28, text.length, true)
  return bytes
}

describe('JSONL form', () => {
  it('round-trips anything', () => {
    fc.assert(
      fc.property(anyExperience, (experience) => {
        const line = toJsonLine(experience)
        expect(line).not.toContain('\n')
        expect(fromJsonLine(line)).toStrictEqual(experience)
      }),
      { numRuns: 150 },
    )
  })

  it('reads as the original wrote it, with token lists beside', () => {
    const line = JSON.parse(
      toJsonLine({ ...sample, promptText: 'p', responseText: 'r', logprobs: Float32Array.of(0.1, -1) }),
    )
    expect(line).toMatchObject({
      v: 1,
      type: 'single_turn',
      eid: { batch: 1, task: 2, run: 0, step: 0, suffix: 'abcdef' },
      prompt_length: 1,
      response_length: 2,
      reward: 0.5,
      prompt_text: 'p',
      response_text: 'r',
      tokens: [1, 2, 3],
      logprobs: [0.1, -1],
    })
  })

  it('leaves an absent reward absent', () => {
    const { reward: _, ...without } = sample
    expect(toJsonLine(without)).not.toContain('reward')
    expect(fromJsonLine(toJsonLine(without)).reward).toBeUndefined()
  })

  it.each([
    ['{"v":9}', /file:3 has version 9/],
    ['[1]', /not a JSON object/],
    ['{"prompt_text":"x"}', /no 'tokens'/],
    ['{"tokens":[1,"a"]}', /wrong entry in 'tokens' at 1/],
    ['{"tokens":[1,2.5]}', /wrong entry in 'tokens' at 1/],
    ['{"tokens":[1,2],"type":"single_turn","prompt_length":1,"eid":7}', /field 'eid'/],
  ])('names the record: %s', (line, message) => {
    expect(() => fromJsonLine(line, 'file:3')).toThrow(message)
  })

  it('never crashes on any JSON', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.string(),
        fc.dictionary(fc.constantFrom('tokens', 'eid', 'media:x', 'columns'), fc.jsonValue()),
        (json, text, fields) => {
          orTyped(() => fromJsonLine(json))
          orTyped(() => fromJsonLine(text))
          orTyped(() => fromJsonLine(JSON.stringify({ ...JSON.parse(toJsonLine(sample)), ...fields })))
        },
      ),
      { numRuns: 300 },
    )
  })
})
