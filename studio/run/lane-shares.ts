import type { Lane, Span } from '../../src/studio/api.js'

export const KINDS = ['work', 'sync', 'save', 'eval', 'other', 'wait'] as const satisfies readonly Span['kind'][]

export interface LaneShares {
  readonly lane: string
  /** Seconds of each kind inside the range. */
  readonly seconds: Readonly<Record<Span['kind'], number>>
  readonly total: number
}

/** Where the time of each lane went, between two moments. */
export function laneShares(lanes: readonly Lane[], from: number, to: number): LaneShares[] {
  return lanes.map(({ name, spans }) => {
    const seconds = { work: 0, wait: 0, sync: 0, save: 0, eval: 0, other: 0 }
    for (const { begin, end, kind } of spans) seconds[kind] += Math.max(0, Math.min(end, to) - Math.max(begin, from))
    return { lane: name, seconds, total: to - from }
  })
}
