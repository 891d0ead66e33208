import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Row } from './contract.js'
import { checkRows, packRows } from './pack.js'

const row = (id: string, length: number, bundle?: string): Row => ({
  id,
  bundle,
  tokens: new Int32Array(length),
  start: 1,
  mask: new Uint8Array(length - 1),
  temperature: 1,
  columns: {},
})

describe('packRows', () => {
  it('keeps every row once, order, budget and bundles', () => {
    const rows = fc.array(fc.record({ length: fc.integer({ min: 1, max: 40 }), bundle: fc.option(fc.nat(5)) }))
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 100 }), (shapes, budget) => {
        const input = shapes.map((s, i) => row(`${i}`, s.length, s.bundle === null ? undefined : `b${s.bundle}`))
        for (const coupling of ['row', 'bundle'] as const) {
          const packs = packRows(input, budget, coupling)
          expect(
            packs
              .flat()
              .map((r) => r.id)
              .sort(),
          ).toEqual(input.map((r) => r.id).sort())
          if (coupling === 'row') expect(packs.flat()).toEqual(input)
          for (const pack of packs) {
            const units = coupling === 'row' ? pack.length : new Set(pack.map((r) => r.bundle ?? r.id)).size
            const tokens = pack.reduce((sum, r) => sum + r.tokens.length, 0)
            expect(tokens <= budget || units === 1).toBe(true)
          }
          if (coupling === 'bundle') {
            const home = new Map<string, number>()
            packs.forEach((pack, i) => {
              for (const r of pack) if (r.bundle) expect(home.get(r.bundle) ?? i).toBe(i)
              for (const r of pack) if (r.bundle) home.set(r.bundle, i)
            })
          }
        }
      }),
    )
  })

  it('separates nothing of a loss over the whole batch', () => {
    const rows = [row('a', 30), row('b', 30, 'pair'), row('c', 30, 'pair')]
    expect(packRows(rows, 31, 'batch')).toEqual([rows])
    expect(packRows([], 31, 'batch')).toEqual([])
  })
})

describe('checkRows', () => {
  const limits = { vocabSize: 10, maxModelLen: 8 }
  const bad: [string, Partial<Row>][] = [
    ['start is 0', { start: 0 }],
    ['outside the vocabulary', { tokens: Int32Array.of(1, 10, 2, 3) }],
    ['the model takes 8', { tokens: new Int32Array(9), mask: new Uint8Array(8) }],
    ['mask has 2 entries', { mask: new Uint8Array(2) }],
    ["column 'old' has 1 entries", { columns: { old: new Float32Array(1) } }],
    ['temperature is 0', { temperature: 0 }],
  ]
  it.each(bad)('says: %s', (message, change) => {
    expect(() => checkRows([{ ...row('r', 4), ...change }], limits)).toThrow(message)
  })
  it('lets a right row pass', () => {
    expect(() => checkRows([{ ...row('r', 4), columns: { a: 1, b: new Float32Array(3) } }], limits)).not.toThrow()
  })
})
