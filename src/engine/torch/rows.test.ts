import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineLoss } from '../../graph/index.js'
import type { Row } from '../contract.js'
import type { FrameTensor } from './frames.js'
import { columnTensors, dealScores, rowTensors } from './rows.js'

const anyRow = fc
  .tuple(
    fc.integer({ min: 1, max: 9 }),
    fc.nat(),
    fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
    fc.nat(100),
  )
  .map(([length, pick, bundle, seed]): Row => {
    const start = 1 + (pick % length)
    const scored = length - start
    return {
      id: `${seed}`,
      tokens: Int32Array.from({ length }, (_, i) => seed + i),
      start,
      mask: Uint8Array.from({ length: scored }, (_, i) => (i + seed) % 2),
      temperature: 0.5 + seed / 100,
      bundle,
      columns: { token: Float32Array.from({ length: scored }, (_, i) => seed + i / 8), number: seed, unread: 1 },
    }
  })

const loss = defineLoss((g) => {
  const spread = g.column('number').mul(g.column('token'))
  return spread.mul(g.logprob).add(g.rowColumn('number').toTokens()).total()
})

describe('rows as tensors', () => {
  it('can be cut into the same rows again', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 6 }), (rows) => {
        const { tokens, mask, lengths, starts, temperatures, bundles } = rowTensors(rows) as Record<string, Int32Array>
        const { shapes, tensors } = columnTensors(loss.graph, rows)
        // read both ways: one number for the row
        expect(shapes).toEqual({ number: 'row', token: 'token' })
        const column = tensors['column:token'] as Float32Array
        let token = 0
        let score = 0
        for (const [r, row] of rows.entries()) {
          expect(tokens.slice(token, token + lengths[r])).toEqual(row.tokens)
          expect(starts[r]).toBe(row.start)
          expect(temperatures[r]).toBe(Math.fround(row.temperature))
          expect(mask.slice(score, score + row.mask.length)).toEqual(row.mask)
          expect(column.slice(score, score + row.mask.length)).toEqual(row.columns.token)
          expect((tensors['column:number'] as Float32Array)[r]).toBe(row.columns.number)
          token += lengths[r]
          score += row.mask.length
        }
        for (const [a, one] of rows.entries()) {
          for (const [b, other] of rows.entries()) {
            const same = a === b || (one.bundle !== undefined && one.bundle === other.bundle)
            expect(bundles[a] === bundles[b]).toBe(same)
          }
        }
        const scores = new Map<string, FrameTensor>([['logprob', { data: column, shape: [column.length] }]])
        expect(dealScores(rows, ['logprob'], scores)).toEqual(
          rows.map(({ id, columns }) => ({ id, logprob: columns.token })),
        )
      }),
    )
  })
})
