import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { fromFloat32, toFloat32 } from './dtype.js'
import { repeatedKey } from './json-keys.js'
import { readSafetensors, SafetensorsFile } from './safetensors.js'
import { parseHeader } from './safetensors-header.js'
import { type TensorToWrite, writeSafetensors } from './safetensors-write.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-safetensors-'))
})
afterAll(() => rm(dir, { recursive: true }))

/** A file with this header text and `data` bytes of zeros; returns the error of opening it. */
async function refusal(header: string | Uint8Array, data = 0, claimed?: bigint): Promise<string> {
  const bytes = Buffer.from(header as string)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(claimed ?? BigInt(bytes.length))
  const path = join(dir, 'bad.safetensors')
  await writeFile(path, Buffer.concat([length, bytes, Buffer.alloc(data)]))
  const error = await SafetensorsFile.open(path).then(
    () => undefined,
    (caught) => caught,
  )
  expect(error).toMatchObject({ name: 'TrinityError', path })
  return error.message.replace(`${path}: `, '')
}

const tensor = (dtype: string, shape: unknown, offsets: unknown) => ({ dtype, shape, data_offsets: offsets })
const f32 = (elements: number, from = 0) => tensor('F32', [elements], [from, from + 4 * elements])

describe('safetensors files', () => {
  it('reads back what it wrote, in every float type', async () => {
    const path = join(dir, 'round.safetensors')
    const values = Float32Array.of(0, -1.5, 3.25, 65504, 2 ** -24, -0)
    await writeSafetensors(path, [
      { name: 'half', dtype: 'F16', shape: [2, 3], data: values },
      { name: 'full', dtype: 'F32', shape: [6], data: async () => values },
      { name: 'brain', dtype: 'BF16', shape: [3, 2], data: values },
      { name: 'ids', dtype: 'I64', shape: [2], data: BigInt64Array.of(-7n, 9n) },
      { name: 'none', dtype: 'U8', shape: [0, 4], data: new Uint8Array(0) },
    ])
    const file = await SafetensorsFile.open(path)
    expect(file.metadata).toEqual({ format: 'pt' })
    expect(await file.readFloat32('half')).toEqual(values)
    expect(await file.readFloat32('full')).toEqual(values)
    expect(Array.from(await file.readFloat32('brain'))).toEqual([0, -1.5, 3.25, 65536, 2 ** -24, -0])
    expect(Array.from(await file.readFloat32('ids'))).toEqual([-7, 9])
    expect(file.info('none')).toMatchObject({ shape: [0, 4], bytes: 0 })
    await expect(file.readFloat32('full', new Float32Array(5))).rejects.toThrow('has 6 elements, not 5')
    await expect(file.readRaw('absent')).rejects.toMatchObject({ code: 'safetensors/missing' })
    await file.close()
  })

  it('writes the same bytes whatever order the tensors come in, and aligns them', async () => {
    const tensors = ['b', 'a', '10', '9'].map((name, i) => ({
      name,
      dtype: i % 2 ? ('F32' as const) : ('BF16' as const),
      shape: [i + 1],
      data: new Float32Array(i + 1).fill(i),
    }))
    await writeSafetensors(join(dir, '1'), tensors)
    await writeSafetensors(join(dir, '2'), tensors.toReversed())
    expect(await readFile(join(dir, '1'))).toEqual(await readFile(join(dir, '2')))
    const file = await SafetensorsFile.open(join(dir, '1'))
    for (const { offset, bytes, size } of file.tensors.values()) expect(offset % (bytes / size)).toBe(0)
    await file.close()
    expect((await readSafetensors(join(dir, '1'))).size).toBe(4)
  })

  it('writes tensors that come in portions', async () => {
    const values = Float32Array.from({ length: 10 }, (_, i) => i + 0.123456)
    async function* portions(...ends: number[]) {
      for (const [i, end] of ends.entries()) yield values.subarray(ends[i - 1] ?? 0, end)
    }
    const [whole, parts] = [join(dir, 'whole.safetensors'), join(dir, 'parts.safetensors')]
    const write = (path: string, data: TensorToWrite['data']) =>
      writeSafetensors(path, [{ name: 'x', dtype: 'BF16', shape: [10], data }])
    await write(whole, values)
    await write(parts, () => portions(3, 4, 10))
    expect((await readFile(parts)).equals(await readFile(whole))).toBe(true)
    await expect(write(parts, () => portions(3, 9))).rejects.toThrow('needs 20 bytes, got 18')
    expect((await readFile(parts)).equals(await readFile(whole))).toBe(true)
  })

  it('leaves the old file and no other when a write fails', async () => {
    const path = join(dir, 'kept.safetensors')
    await writeFile(path, 'old')
    const wrong = { name: 'w', dtype: 'F32' as const, shape: [3], data: new Float32Array(2) }
    await expect(writeSafetensors(path, [wrong])).rejects.toThrow("tensor 'w' of F32 [3] needs 12 bytes, got 8")
    expect(await readFile(path, 'utf8')).toBe('old')
    expect((await readdir(dir)).filter((name) => name.endsWith('.tmp'))).toEqual([])
    await expect(writeSafetensors(path, [wrong, wrong])).rejects.toThrow('twice')
  })

  it('refuses every lie in a header, and names it', async () => {
    const json = JSON.stringify
    expect(await refusal('{}', 0, 1n << 40n)).toContain('claims a header of 1099511627776 bytes')
    expect(await refusal('{}', 0, 100n)).toContain('is truncated: its header needs 108 bytes, the file has 10')
    expect(await refusal('{"a":')).toContain('not JSON')
    expect(await refusal('[1]')).toContain('not a JSON object')
    expect(await refusal(Buffer.from([0x7b, 0xff, 0x7d]))).toContain('not UTF-8')
    expect(await refusal(json({ a: 1 }))).toContain("tensor 'a' is not described")
    expect(await refusal(json({ a: tensor('F33', [1], [0, 4]) }), 4)).toContain('unknown dtype "F33"')
    expect(await refusal(json({ a: tensor('__proto__', [1], [0, 4]) }), 4)).toContain('unknown dtype')
    expect(await refusal(json({ a: tensor('F32', [-1], [0, 4]) }), 4)).toContain('has shape [-1]')
    expect(await refusal(json({ a: tensor('F32', [1.5], [0, 6]) }), 6)).toContain('has shape [1.5]')
    expect(await refusal(json({ a: tensor('F32', [2 ** 40, 2 ** 40], [0, 4]) }), 4)).toContain('impossible shape')
    expect(await refusal(json({ a: tensor('F32', [2], [0, 4]) }), 4)).toContain('= 8 bytes, but its offsets span 4')
    expect(await refusal(json({ a: tensor('F32', [1], [4, 0]) }), 4)).toContain('is at bytes 4…0')
    expect(await refusal(json({ a: tensor('F32', [1], [0]) }), 4)).toContain('has data_offsets [0]')
    expect(await refusal(json({ a: f32(2) }), 4)).toContain('outside the 4 bytes of data')
    expect(await refusal(json({ a: f32(2), b: f32(2, 4) }), 12)).toContain("'b' overlaps")
    expect(await refusal(json({ a: f32(1), b: f32(1, 8) }), 12)).toContain("4 bytes before tensor 'b'")
    expect(await refusal(json({ a: f32(1) }), 9)).toContain('has 5 trailing bytes')
    expect(await refusal(`{"a":${json(f32(1))},"\\u0061":${json(f32(1))}}`, 4)).toContain("names 'a' twice")
    expect(await refusal(`{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4)).toContain('twice')
    expect(await refusal(json({ __metadata__: { step: 3 } }))).toContain('__metadata__')
  })

  it('refuses files that are too short or cannot be read', async () => {
    const path = join(dir, 'short')
    await writeFile(path, 'abc')
    await expect(SafetensorsFile.open(path)).rejects.toThrow('is 3 bytes long')
    await expect(SafetensorsFile.open(join(dir, 'absent'))).rejects.toMatchObject({ code: 'safetensors/unreadable' })
    await expect(SafetensorsFile.open(dir)).rejects.toMatchObject({ code: 'safetensors/unreadable' })
  })

  it('survives any damage to a valid file: a typed error or tensors that fit the file', async () => {
    const path = join(dir, 'fuzz.safetensors')
    await writeSafetensors(path, [
      { name: 'w', dtype: 'F32', shape: [2, 2], data: new Float32Array(4) },
      { name: 'b', dtype: 'BF16', shape: [2], data: new Float32Array(2) },
    ])
    const valid = await readFile(path)
    const edit = fc.record({ at: fc.nat(valid.length - 1), byte: fc.nat(255) })
    const damage = fc.record({ edits: fc.array(edit, { maxLength: 4 }), cut: fc.nat(valid.length), more: fc.nat(9) })
    let opened = 0
    await fc.assert(
      fc.asyncProperty(damage, async ({ edits, cut, more }) => {
        const bytes = Buffer.from(valid)
        for (const { at, byte } of edits) bytes[at] = byte
        const length = cut % 3 === 0 ? cut : bytes.length
        await writeFile(path, Buffer.concat([bytes.subarray(0, length), Buffer.alloc(more % 3)]))
        try {
          const file = await SafetensorsFile.open(path)
          opened++
          for (const name of file.tensors.keys()) await file.readFloat32(name)
          await file.close()
        } catch (error) {
          expect(error).toMatchObject({ name: 'TrinityError', path })
        }
      }),
      { numRuns: 400, examples: [[{ edits: [], cut: 1, more: 0 }]] },
    )
    expect(opened).toBeGreaterThan(0)
  })
})

describe('parseHeader', () => {
  it('accepts exactly the headers whose tensors fit their bytes and cover the data once', () => {
    const widths: Record<string, number> = { F32: 4, BF16: 2, U8: 1 }
    const numbers = (...choices: number[]) => fc.constantFrom(...choices)
    // Mostly right by itself, so that some headers fit as a whole.
    const entry = fc
      .record({
        dtype: fc.constantFrom('F32', 'F32', 'BF16', 'U8', 'X9'),
        shape: fc.oneof(
          { weight: 6, arbitrary: fc.array(numbers(0, 1, 2), { minLength: 1, maxLength: 1 }) },
          fc.array(numbers(1, 2, -1, 1.5, 2 ** 53), { maxLength: 2 }),
        ),
        begin: fc.constantFrom(0, 2, 4, 8),
        error: fc.constantFrom(0, 0, 0, 0, 1, -2),
      })
      .map(({ dtype, shape, begin, error }) => {
        const size = shape.reduce((product, n) => product * n, widths[dtype] ?? 1)
        return { dtype, shape, data_offsets: [begin, begin + (Number.isInteger(size) && size < 99 ? size : 4) + error] }
      })
    const header = fc.dictionary(fc.constantFrom('a', 'b', 'c'), entry, { minKeys: 1, maxKeys: 3 })
    let accepted = 0
    fc.assert(
      fc.property(header, fc.constantFrom(0, 4, 8, 12), (tensors, dataBytes) => {
        const covered = new Array(dataBytes).fill(0)
        let fits = true
        for (const { dtype, shape, data_offsets } of Object.values(tensors)) {
          const [begin, end] = data_offsets
          const size = shape.reduce((product, n) => product * n, widths[dtype] ?? Number.NaN)
          fits &&=
            shape.every((n) => n >= 0 && Number.isInteger(n) && n < 10) && size === end - begin && end <= dataBytes
          for (let i = begin; i < end; i++) covered[i] = (covered[i] ?? 0) + 1
        }
        // An empty tensor may stand between others, not inside one.
        const inside = Object.values(tensors).some(({ data_offsets: [at, end] }) =>
          Object.values(tensors).some(({ data_offsets: [from, to] }) => at === end && from < at && at < to),
        )
        const bytes = Buffer.from(JSON.stringify(tensors))
        const open = () => parseHeader(bytes, 8 + bytes.length + dataBytes, 'x.safetensors')
        if (fits && !inside && covered.every((count) => count === 1)) {
          expect(open().tensors.size).toBe(Object.keys(tensors).length)
          accepted++
        } else expect(open).toThrow(TrinityError)
      }),
      { numRuns: 5000 },
    )
    expect(accepted).toBeGreaterThan(10)
  })
})

describe('repeatedKey', () => {
  it('finds nothing in what JSON.stringify writes, and every doubled key', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, key) => {
        const text = JSON.stringify(value)
        expect(repeatedKey(text)).toBeUndefined()
        const name = JSON.stringify(key)
        expect(repeatedKey(`[${text},{${name}:${text},${name} :1}]`)).toBe(key)
      }),
    )
  })
})

describe('dtype conversion', () => {
  it('decodes all 65,536 halves as their bits say and encodes them back', () => {
    const bits = Uint16Array.from({ length: 65536 }, (_, i) => i)
    const values = new Float32Array(65536)
    toFloat32('F16', new Uint8Array(bits.buffer), values)
    expect(values[0x3c00]).toBe(1)
    expect(values[0x0001]).toBe(2 ** -24)
    expect(values[0x7bff]).toBe(65504)
    const back = new Uint16Array(fromFloat32('F16', values).buffer)
    for (let i = 0; i < 65536; i++) if (!Number.isNaN(values[i])) expect(back[i]).toBe(i)
    expect(Number.isNaN(values[back[0x7c01]])).toBe(true)
  })

  it('rounds to the nearest, ties to even', () => {
    const nearestOf = (dtype: 'F16' | 'BF16', spacing: (magnitude: number) => number) =>
      fc.property(fc.float({ noNaN: true, min: -60000, max: 60000 }), (value) => {
        const out = new Float32Array(1)
        toFloat32(dtype, fromFloat32(dtype, Float32Array.of(value)), out)
        const unit = spacing(Math.max(Math.abs(value), Math.abs(out[0])))
        expect(Math.abs(out[0] - value)).toBeLessThanOrEqual(unit / 2)
      })
    fc.assert(nearestOf('F16', (m) => 2 ** (Math.max(-14, Math.floor(Math.log2(m))) - 10)))
    fc.assert(nearestOf('BF16', (m) => 2 ** (Math.max(-126, Math.floor(Math.log2(m))) - 7)))
    const half = (x: number) => new Uint16Array(fromFloat32('F16', Float32Array.of(x)).buffer)[0]
    expect([half(1 + 2 ** -11), half(1 + 3 * 2 ** -11), half(65519.99), half(65520)]).toEqual([
      0x3c00, 0x3c02, 0x7bff, 0x7c00,
    ])
    expect([half(2 ** -25), half(3 * 2 ** -25), half(2 ** -14 - 2 ** -26)]).toEqual([0, 2, 0x400])
  })

  it('decodes 8-bit floats', () => {
    const out = new Float32Array(4)
    toFloat32('F8_E4M3', Uint8Array.of(0x38, 0x7e, 0x01, 0xb8), out)
    expect(Array.from(out)).toEqual([1, 448, 2 ** -9, -1])
    toFloat32('F8_E5M2', Uint8Array.of(0x3c, 0x7b, 0x01, 0xbc), out)
    expect(Array.from(out)).toEqual([1, 57344, 2 ** -16, -1])
  })
})
