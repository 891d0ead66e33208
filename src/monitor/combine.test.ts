import { describe, expect, it } from 'vitest'
import { columns, combine, parseMetric } from './combine.js'

describe('several records become one', () => {
  it('by the ending of the name, else by their mean', () => {
    const records = [
      { a: 1, 'tokens:sum': 10, 'longest:max': 3, 'shortest:min': 3, 'now:last': 1 },
      { a: 3, 'tokens:sum': 5, 'longest:max': 8, 'shortest:min': 2, 'now:last': 7 },
    ]
    expect(combine(records)).toEqual({ a: 2, 'tokens:sum': 15, 'longest:max': 8, 'shortest:min': 2, 'now:last': 7 })
  })

  it('an ending that is none belongs to the name', () => {
    expect(parseMetric('time:sum')).toEqual({ name: 'time', kind: 'sum' })
    expect(parseMetric('http://x')).toEqual({ name: 'http://x', kind: 'mean' })
  })

  it('numbers that are not finite count nowhere, also in a record alone', () => {
    expect(combine([{ a: Number.NaN, b: 1 }])).toEqual({ b: 1 })
    expect(combine([{ a: Number.NaN, b: 1 }, { a: 4, b: Infinity }, { a: 6 }])).toEqual({ a: 5, b: 1 })
    expect(columns([{ a: Number.NaN }]).size).toBe(0)
  })
})
