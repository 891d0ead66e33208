import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IndexColumns } from './index-columns.js'
import { nextPlaces, type Order, placeOf, testOf } from './select.js'
import type { IndexRow, Source } from './source.js'

async function columnsOf(rows: readonly IndexRow[]): Promise<IndexColumns> {
  const columns = new IndexColumns()
  const source: Pick<Source, 'scan' | 'isSame'> = {
    scan: async (after, take) => rows.filter(({ key }) => key > after).forEach(take),
    isSame: async (last) => rows.some(({ key }) => key === last),
  }
  await columns.update(source as Source)
  return columns
}

const row = fc.record({
  step: fc.integer({ min: 1, max: 3 }).map(String),
  task: fc.constantFrom('a', 'b'),
  version: fc.integer({ min: 0, max: 3 }),
  reward: fc.constantFrom(undefined, 0, 0.5, 0.5, 1, -1, Number.NaN),
  failure: fc.constantFrom(undefined, undefined, 'timeout: 30 s'),
})
const rows = fc
  .array(row, { maxLength: 40 })
  .map((some) => some.map((one, i): IndexRow => ({ ...one, key: 3 * i + 1, run: 0 })))

describe('pages of experiences', () => {
  it('one behind the other are everything that fits, in order', async () => {
    const order = fc.constantFrom<Order>('newest', 'oldest', 'best', 'worst')
    await fc.assert(
      fc.asyncProperty(rows, order, fc.integer({ min: 1, max: 7 }), async (all, by, limit) => {
        const columns = await columnsOf(all)
        const test = testOf(columns, { versionMin: 1 })
        const keys: number[] = []
        for (let after: number | undefined; ; ) {
          const page = nextPlaces(columns, test, by, after, limit)
          keys.push(...page.map((at) => columns.keys[at]))
          if (page.length < limit) break
          // as a page has it: by the key of its last
          after = placeOf(columns, columns.keys[page[limit - 1]])
        }
        const fitting = all.filter(({ version }) => version >= 1)
        const rated = fitting.filter(({ reward }) => reward !== undefined && !Number.isNaN(reward))
        const worth = (one: IndexRow) => one.reward as number
        const expected = {
          newest: [...fitting].reverse(),
          oldest: fitting,
          best: [...rated].sort((a, b) => worth(b) - worth(a)),
          worst: [...rated].sort((a, b) => worth(a) - worth(b)),
        }[by]
        expect(keys).toEqual(expected.map(({ key }) => key))
      }),
      { numRuns: 200 },
    )
  })

  it('filters say what they say', async () => {
    const base = { key: 1, step: '1', task: 'a', run: 0, version: 0 }
    const columns = await columnsOf([
      { ...base, reward: 1 },
      { ...base, key: 2, step: '2', failure: 'timeout: after 3 s' },
      { ...base, key: 3, step: 'x', task: 'b', reward: 0, version: 4 },
    ])
    const fits = (filter: Parameters<typeof testOf>[1]) => [0, 1, 2].filter(testOf(columns, filter))
    expect(fits({})).toEqual([0, 1, 2])
    expect(fits({ task: 'a' })).toEqual([0, 1])
    expect(fits({ task: 'c' })).toEqual([])
    expect(fits({ stepMin: 1 })).toEqual([0, 1])
    expect(fits({ stepMax: 1 })).toEqual([0])
    expect(fits({ versionMin: 1 })).toEqual([2])
    expect(fits({ rewardMin: 0 })).toEqual([0, 2])
    expect(fits({ rewardMax: 0.5 })).toEqual([2])
    expect(fits({ failure: 'any' })).toEqual([1])
    expect(fits({ failure: 'none' })).toEqual([0, 2])
    expect(fits({ failure: 'timeout' })).toEqual([1])
    expect(fits({ failure: 'engine_error' })).toEqual([])
  })

  it('what a source has taken back is forgotten', async () => {
    const base = { step: '1', task: 'a', run: 0, version: 0 }
    const rows: IndexRow[] = [1, 2, 3].map((key) => ({ ...base, key }))
    const columns = new IndexColumns()
    const source = {
      scan: async (after: number, take: (row: IndexRow) => void) => rows.filter(({ key }) => key > after).forEach(take),
      isSame: async (last: number) => rows.some(({ key }) => key === last),
    } as Source
    await columns.update(source)
    rows.splice(1, 2, { ...base, key: 4 }, { ...base, key: 5 })
    await columns.update(source)
    expect(columns.keys).toEqual([1, 4, 5])
  })
})
