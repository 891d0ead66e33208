import { describe, expect, it } from 'vitest'
import { chartSvg } from './chart.js'
import { compare } from './compare.js'
import { spreadText } from './number.js'
import { tableText } from './table.js'

const arms = [
  {
    name: 'slow & <old>',
    curves: [
      [
        { x: 0, y: 0.25 },
        { x: 4000, y: 0.5 },
      ],
    ],
  },
  {
    name: 'fast',
    curves: [0.7, 0.8].map((y) => [
      { x: 0, y: 0.25 },
      { x: 4200, y },
    ]),
  },
]
const found = compare(arms)
if (!found) throw new Error('nothing to compare')

describe('what came of a sweep', () => {
  it('is a table with the best arm first', () => {
    const lines = tableText(found, 'eval/x', 'tokens').split('\n')
    expect(lines[0]).toBe('eval/x: mean ± deviation over seeds')
    expect(lines[1]).toMatch(/^\s+runs {3}before {10}after 4,000 sampled tokens/)
    expect(lines[2]).toMatch(/^fast {11}2 {6}0\.250 ± 0\.000 /)
    expect(lines[3]).toMatch(/^slow & <old> {3}1 {6}0\.250 /)
  })

  it('is a chart with a line for each arm', () => {
    const svg = chartSvg(arms, found, 'eval/x', 'tokens')
    expect(svg.match(/<polyline/g)).toHaveLength(2)
    expect(svg).toContain('slow &amp; &lt;old&gt;')
    expect(svg).toContain('sampled tokens')
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
    const flat = [{ name: 'a', curves: [[{ x: 3, y: 1 }]] }]
    const one = compare(flat)
    expect(one && chartSvg(flat, one, 'm', 'steps')).not.toMatch(/NaN|Infinity|undefined/)
  })

  it('no two of many lines look alike', () => {
    const many = Array.from({ length: 20 }, (_, i) => ({ name: `arm ${i}`, curves: [[{ x: 3, y: i }]] }))
    const all = compare(many)
    const looks =
      all &&
      chartSvg(many, all, 'm', 'steps')
        .match(/<polyline [^>]*>/g)
        ?.map((line) => line.split('fill=')[1])
    expect(new Set(looks).size).toBe(20)
  })

  it('has numbers that people read', () => {
    expect(spreadText({ mean: 0.5, deviation: 0.0123 })).toBe('0.500 ± 0.012')
    expect(spreadText({ mean: 0.5 })).toBe('0.500')
    expect(spreadText({ mean: 12.34, deviation: 1 })).toBe('12.3 ± 1.0')
    expect(spreadText({ mean: 2e-5, deviation: 1e-6 })).toBe('2.0e-5 ± 1.0e-6')
  })
})
