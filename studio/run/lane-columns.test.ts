import { expect, it } from 'vitest'
import type { Span } from '../../src/studio/api.js'
import { columnsOf } from './lane-columns.js'

const scale = { left: 0, right: 100, x: (time: number) => time }
const span = (begin: number, end: number, more: Partial<Span> = {}): Span => ({
  ...{ begin, end, kind: 'work', label: '' },
  ...more,
})

it('a lane looks as full as it is: thin spans take their share of a pixel', () => {
  const { thick, columns } = columnsOf(
    [span(1, 1.1), span(1.5, 1.7), span(2.9, 3.2, { kind: 'wait' }), span(10, 20), span(200, 201)],
    scale,
  )
  expect(thick).toEqual([span(10, 20)])
  const close = (share: number) => expect.closeTo(share, 9)
  expect([...columns]).toEqual([
    [1, { work: close(0.3) }],
    [2, { wait: close(0.1) }],
    [3, { wait: close(0.2) }],
  ])
})

it('those that were put together fill a part of their range, and nothing is fuller than full', () => {
  const { thick, columns } = columnsOf(
    [span(4, 8, { merged: 9, seconds: 1 }), span(4, 6, { merged: 2, seconds: 9 })],
    scale,
  )
  expect(thick).toEqual([])
  expect([...columns.values()]).toEqual([{ work: 1 }, { work: 1 }, { work: 0.25 }, { work: 0.25 }])
})
