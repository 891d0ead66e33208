import { expect, it } from 'vitest'
import { lengthSvg } from './length-chart.js'

it('draws each length with its memory, in order, and says which failed', () => {
  const svg = lengthSvg([
    { length: 2048, end: 'trained', peakBytes: 2 ** 30 },
    { length: 4096, end: 'memory', peakBytes: 2 ** 31 },
    { length: 1024, end: 'trained', peakBytes: 2 ** 29 },
  ])
  expect([...svg.matchAll(/text-anchor="end">(\d+)</g)].map(([, length]) => length)).toEqual(['1024', '2048', '4096'])
  // bars are as long as the memory was large
  expect([...svg.matchAll(/height="18" fill="(#\w+)"/g)].map(([, color]) => color)).toEqual([
    '#0072b2',
    '#0072b2',
    '#d55e00',
  ])
  expect([...svg.matchAll(/width="(\d+)" height="18"/g)].map(([, wide]) => Number(wide))).toEqual([100, 200, 400])
  expect(svg).toContain('2.00 GiB (not enough)')
})
