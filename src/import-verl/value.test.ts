import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHydraValue } from './value.js'

describe('hydra values', () => {
  it.each([
    ['1', 1],
    ['-1', -1],
    ['1e-6', 1e-6],
    ['0.', 0],
    ['.5', 0.5],
    ['1_000', 1000],
    ['True', true],
    ['false', false],
    ['null', null],
    ['None', 'None'],
    ['', ''],
    ['abc def', 'abc def'],
    ["'a, b'", 'a, b'],
    ['"it\\"s"', 'it"s'],
    ['[]', []],
    ['[1,two,"3"]', [1, 'two', '3']],
    ['["console","wandb"]', ['console', 'wandb']],
    ['[[1,2],[3]]', [[1, 2], [3]]],
    ['[${oc.env:HOME,a}/x, ${b}]', ['${oc.env:HOME,a}/x', '${b}']],
    ["['$x/a.parquet', '$x/b.parquet']", ['$x/a.parquet', '$x/b.parquet']],
    ['{a: 1, b: {c: [x]}}', { a: 1, b: { c: ['x'] } }],
    ['{}', {}],
    ['[1,2', '[1,2'],
    ['{a}', '{a}'],
    ['2024-01-01', '2024-01-01'],
    ['http://x:1', 'http://x:1'],
  ])('%s', (text, expected) => {
    expect(parseHydraValue(text)).toEqual(expected)
  })

  it('reads back what JSON writes, whatever is in it', () => {
    const text = fc.string().filter((s) => !s.includes('\\') && !s.includes('\n'))
    const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), text)
    const value = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('node'), { maxLength: 4 })),
    })).node
    fc.assert(
      fc.property(value, (given) => {
        const written = JSON.stringify(given, (_, v) => (typeof v === 'string' ? v.replace(/[^ -~]/g, '_') : v))
        expect(parseHydraValue(written)).toEqual(JSON.parse(written))
      }),
    )
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseHydraValue(text)))
    expect(parseHydraValue('['.repeat(10_000))).toBe('['.repeat(10_000))
  })
})
