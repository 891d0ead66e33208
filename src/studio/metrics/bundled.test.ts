import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Span } from '../api.js'
import { bundled } from './bundled.js'

const span = (begin: number, seconds: number, kind: Span['kind'] = 'work'): Span => ({
  ...{ begin, end: begin + seconds, kind, label: `${kind} ${begin}` },
})

it('short ones of a kind that lie together become one, and say how long they took', () => {
  const spans = [span(0, 1), span(2, 2), span(3, 1, 'wait'), span(40, 1), span(50, 30)]
  expect(bundled(spans, 0, 100, 4)).toEqual([
    { ...span(2, 2), begin: 0, end: 4, seconds: 3, merged: 2 },
    span(3, 1, 'wait'),
    span(40, 1),
    span(50, 30),
  ])
  expect(bundled(spans, 0, 100, 5)).toEqual(spans)
})

it('no time of any kind is added or lost', () => {
  const kinds = ['work', 'wait', 'sync'] as const
  const any = fc.tuple(
    fc.double({ min: 0, max: 100, noNaN: true }),
    fc.double({ min: 0, max: 9, noNaN: true }),
    fc.nat(2),
  )
  fc.assert(
    fc.property(fc.array(any, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (drawn, most) => {
      const spans = drawn.map(([begin, seconds, kind]) => span(begin, seconds, kinds[kind]))
      const shown = bundled(spans, 0, 110, most)
      for (const kind of kinds) {
        const sum = (list: readonly Span[]) =>
          list.filter((one) => one.kind === kind).reduce((all, one) => all + (one.seconds ?? one.end - one.begin), 0)
        expect(sum(shown)).toBeCloseTo(sum(spans), 6)
      }
      expect(shown.reduce((all, one) => all + (one.merged ?? 1), 0)).toBe(spans.length)
    }),
  )
})
