import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Table } from './table.js'

const row = fc.tuple(fc.nat(4), fc.nat(4))
const keys = (rows: readonly (readonly number[])[]) => rows.map((one) => one.join())

describe('Table', () => {
  it('is a set of rows in order, and never changes', () => {
    fc.assert(
      fc.property(fc.array(row), fc.array(fc.tuple(fc.boolean(), row)), (start, changes) => {
        let table = Table.of(start)
        const set = new Set(keys(start))
        for (const [adds, one] of changes) {
          const before = keys(table.rows)
          const after = adds ? table.with(one) : table.without(one)
          if (adds) set.add(one.join())
          else set.delete(one.join())
          expect(keys(table.rows)).toEqual(before)
          expect(after === table).toBe(before.includes(one.join()) === adds)
          table = after
        }
        expect(keys(table.rows)).toEqual([...set].sort())
        for (const place of [0, 1]) {
          for (let term = 0; term < 5; term++) {
            expect(keys(table.where(place, term))).toEqual(keys(table.rows.filter((one) => one[place] === term)))
          }
          expect(table.variety(place)).toBe(Math.max(1, new Set(table.rows.map((one) => one[place])).size))
        }
        for (let left = 0; left < 5; left++) {
          for (let right = 0; right < 5; right++) expect(table.has([left, right])).toBe(set.has(`${left},${right}`))
        }
      }),
    )
  })
})
